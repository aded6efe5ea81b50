// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// Repeats the whole input, `repeats[d]` times along dimension d.
std::vector<TensorType> infer_tile(const NodeView& node) {
  TensorType result = node.input(0);
  const auto repeats = node.value_integers(1);
  if (repeats.size() != result.shape.size()) {
    node.fail("has " + std::to_string(repeats.size()) + " repeats for " +
              std::to_string(result.shape.size()) + " dimensions");
  }
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0)
      node.fail("repeats dimension " + std::to_string(d) + " " + std::to_string(repeats[d]) +
                " times");
    result.shape[d] = checked_mul(result.shape[d], repeats[d], "Tile");
  }
  return {result};
}

std::vector<std::vector<Origin>> origins_of_tile(const NodeView& node) {
  const Shape source = node.input(0).shape;
  return {origins_of(infer_tile(node)[0].shape, [&](const Shape& at) {
    Shape from = at;
    for (std::size_t d = 0; d < from.size(); ++d) from[d] %= source[d];
    return Origin{0, index_in(source, from)};
  })};
}

BoundProblem lower_tile(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const Shape result = node.output().shape;
  std::vector<Expression> coordinates;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const bool repeats = source[d] != result[d];
    coordinates.push_back(repeats ? Movement::at(d) % Movement::source_extent(d) : Movement::at(d));
  }
  return Movement(node, 0, 0).read(std::move(coordinates));
}

/// Each dimension as repeats and what is repeated; the sum over the repeats.
void gradient_of_tile(Gradient& gradient) {
  const Shape source = gradient.node().input(0).shape;
  const Shape result = gradient.shape_of(gradient.of_output());
  Shape split;
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < source.size(); ++d) {
    if (result[d] != source[d]) {
      axes.push_back(static_cast<std::int64_t>(split.size()));
      split.push_back(result[d] / source[d]);
    }
    split.push_back(source[d]);
  }
  const TensorId sum = gradient.sum(gradient.reshaped(gradient.of_output(), split), axes);
  gradient.give(0, gradient.reshaped(sum, source));
}

}  // namespace

const Operator& operator_Tile() {
  static const Operator kOperator{
      .name = "Tile",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .since_opset = 6,
      .infer = infer_tile,
      .host = {.origins = origins_of_tile},
      .lower = lower_tile,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_tile,
  };
  return kOperator;
}

}  // namespace morton::ops
