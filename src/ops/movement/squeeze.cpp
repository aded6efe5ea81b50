// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// Drops the given dimensions of extent 1, or all of them. The axes are an attribute before opset
/// 13, an input from then on.
std::vector<TensorType> infer_squeeze(const NodeView& node) {
  const TensorType input = node.input(0);
  const bool given = node.has_input(1) || node.has("axes");
  const auto axes = axes_from(node, attribute_or_input(node, "axes", 1, {}), input.shape.size());
  TensorType result{input.dtype, {}};
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (named && input.shape[d] != 1) {
      node.fail("dimension " + std::to_string(d) + " of " + to_string(input.shape) +
                " is not 1 and cannot be dropped");
    }
    const bool drops = given ? named : input.shape[d] == 1;
    if (!drops) result.shape.push_back(input.shape[d]);
  }
  return {result};
}

}  // namespace

const Operator& operator_Squeeze() {
  static const Operator kOperator{
      .name = "Squeeze",
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"axes"},
      .since_opset = 1,
      .infer = infer_squeeze,
      .host = {.alias = true},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
