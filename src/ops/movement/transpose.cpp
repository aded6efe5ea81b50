// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// Dimension d of the result is dimension perm[d] of the input; without `perm` the order turns
/// round.
std::vector<std::size_t> order_of(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  std::vector<std::int64_t> turned(rank);
  std::iota(turned.rbegin(), turned.rend(), 0);
  const auto perm = node.integers("perm", turned);
  if (perm.size() != rank) {
    node.fail("perm has " + std::to_string(perm.size()) + " axes, the input " +
              std::to_string(rank) + " dimensions");
  }
  return axes_from(node, perm, rank);
}

std::vector<TensorType> infer_transpose(const NodeView& node) {
  const TensorType input = node.input(0);
  TensorType result{input.dtype, {}};
  for (const std::size_t axis : order_of(node)) result.shape.push_back(input.shape[axis]);
  return {result};
}

std::vector<std::vector<Origin>> origins_of_transpose(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const auto order = order_of(node);
  return {origins_of(infer_transpose(node)[0].shape, [&](const Shape& at) {
    Shape from(source.size());
    for (std::size_t d = 0; d < at.size(); ++d) from[order[d]] = at[d];
    return Origin{0, index_in(source, from)};
  })};
}

BoundProblem lower_transpose(const NodeView& node) {
  return Movement(node, 0, 0).permute(order_of(node));
}

void gradient_of_transpose(Gradient& gradient) {
  const auto order = order_of(gradient.node());
  std::vector<std::int64_t> back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<std::int64_t>(d);
  gradient.give(0, gradient.transposed(gradient.of_output(), back));
}

}  // namespace

const Operator& operator_Transpose() {
  static const Operator kOperator{
      .name = "Transpose",
      .attributes = {"perm"},
      .since_opset = 1,
      .infer = infer_transpose,
      .host = {.origins = origins_of_transpose},
      .lower = lower_transpose,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_transpose,
  };
  return kOperator;
}

}  // namespace morton::ops
