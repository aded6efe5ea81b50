// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// The input broadcast against the shape that input 1 spells, by NumPy's rule in both directions.
std::vector<TensorType> infer_expand(const NodeView& node) {
  const TensorType input = node.input(0);
  const auto asked = node.value_integers(1);
  if (asked.size() > kMaxRank) node.unsupported("more than 8 dimensions");
  const Shape shape(asked.begin(), asked.end());
  for (const std::int64_t extent : shape) {
    if (extent < 0) node.fail("cannot expand to " + to_string(shape));
  }
  return {{input.dtype, node.broadcast(input.shape, shape)}};
}

std::vector<std::vector<Origin>> origins_of_expand(const NodeView& node) {
  const Shape source = node.input(0).shape;
  return {origins_of(infer_expand(node)[0].shape, [&](const Shape& at) {
    Shape from(source.size());
    const std::size_t added = at.size() - source.size();
    for (std::size_t t = 0; t < from.size(); ++t) from[t] = source[t] == 1 ? 0 : at[t + added];
    return Origin{0, index_in(source, from)};
  })};
}

BoundProblem lower_expand(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const std::size_t added = node.output().shape.size() - source.size();
  std::vector<Expression> coordinates;
  for (std::size_t t = 0; t < source.size(); ++t) {
    coordinates.push_back(source[t] == 1 ? Expression(0) : Movement::at(t + added));
  }
  return Movement(node, 0, 0).read(std::move(coordinates));
}

void gradient_of_expand(Gradient& gradient) {
  gradient.give(0, gradient.summed_to(gradient.of_output(), gradient.node().input(0).shape));
}

}  // namespace

const Operator& operator_Expand() {
  static const Operator kOperator{
      .name = "Expand",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .since_opset = 8,
      .infer = infer_expand,
      .host = {.origins = origins_of_expand},
      .lower = lower_expand,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_expand,
  };
  return kOperator;
}

}  // namespace morton::ops
