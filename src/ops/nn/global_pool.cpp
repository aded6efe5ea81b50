// SPDX-License-Identifier: Apache-2.0
//
// Pools whose window is the whole image: reductions of it.
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {
namespace {

template <Reduction kReduction>
Operator global_pool_operator(std::string_view name) {
  return {
      .name = name,
      .since_opset = 1,
      .infer = infer_global_pool,
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_global_pool(node, inputs[0], kReduction);
                   }},
      .lower = [](const NodeView& node) { return lower_global_pool(node, kReduction); },
      .gradient = [](Gradient& gradient) { gradient_of_global_pool(gradient, kReduction); },
  };
}

}  // namespace

const OperatorTable& global_pool_operators() {
  static const OperatorTable kTable{
      global_pool_operator<Reduction{.finish = Reduction::Finish::mean}>("GlobalAveragePool"),
      global_pool_operator<Reduction{.combine = Reduction::Combine::largest}>("GlobalMaxPool"),
  };
  return kTable;
}

}  // namespace morton::ops
