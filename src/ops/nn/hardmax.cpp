// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/extreme.hpp"
#include "ops/math/softmax_rows.hpp"

namespace morton::ops {
namespace {

/// 1 at the first of the largest elements of a row, or at its first NaN, else 0. Where errors leave
/// open which element that is, each that may be it is off by 1 at most.
ReferenceTensor reference_hardmax(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor& source = inputs[0];
  ReferenceTensor result = source;
  for_each_row(softmax_along(node), source.shape, [&](const std::vector<std::size_t>& row) {
    std::size_t best = row[0];
    for (const std::size_t at : row) {
      if (is_beyond(source.value[at], source.value[best], FirstInOrder::largest)) best = at;
    }
    const double least = source.value[best] - source.error[best];
    bool open = false;
    for (const std::size_t at : row) {
      result.value[at] = at == best ? 1.0 : 0.0;
      result.error[at] = 0.0;
      const bool exact =
          std::isnan(source.value[best]) || (source.error[at] == 0.0 && source.error[best] == 0.0);
      if (at == best || exact || source.value[at] + source.error[at] < least) continue;
      result.error[at] = 1.0;
      open = true;
    }
    if (open) result.error[best] = 1.0;
  });
  return result;
}

}  // namespace

const Operator& operator_Hardmax() {
  static const Operator kOperator{
      .name = "Hardmax",
      .attributes = {"axis"},
      .since_opset = 1,
      .infer = infer_softmax,
      .host = {.reference = reference_hardmax},
      .lower = [](const NodeView& node) { return lower_softmax(node, families::hardmax); },
  };
  return kOperator;
}

}  // namespace morton::ops
