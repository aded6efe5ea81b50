// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// Adds dimensions of extent 1 at the axes, which are those of the result: an attribute before
/// opset 13, an input from then on.
std::vector<TensorType> infer_unsqueeze(const NodeView& node) {
  const TensorType input = node.input(0);
  if (!node.has_input(1) && !node.has("axes")) node.fail("the axes are missing");
  const auto given = attribute_or_input(node, "axes", 1, {});
  const std::size_t rank = input.shape.size() + given.size();
  if (rank > kMaxRank) node.unsupported("more than 8 dimensions");
  const auto axes = axes_from(node, given, rank);
  TensorType result{input.dtype, {}};
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool added = std::find(axes.begin(), axes.end(), d) != axes.end();
    result.shape.push_back(added ? 1 : input.shape[next++]);
  }
  return {result};
}

}  // namespace

const Operator& operator_Unsqueeze() {
  static const Operator kOperator{
      .name = "Unsqueeze",
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"axes"},
      .since_opset = 1,
      .infer = infer_unsqueeze,
      .host = {.alias = true},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
