// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// The triangle of the last two dimensions, above (`upper`) or below the diagonal `k`, that stays;
/// the rest becomes zero.
struct Triangle {
  std::int64_t k = 0;
  bool upper = true;
};

Triangle triangle_of(const NodeView& node) {
  if (node.input(0).shape.size() < 2) {
    node.fail("the input is " + to_string(node.input(0).shape) + ", expected a matrix or more");
  }
  Triangle triangle{0, node.flag("upper", 1)};
  if (!node.has_input(1)) return triangle;
  const auto k = node.value_integers(1);
  if (k.size() != 1) node.fail("the diagonal (input 1) should be one number");
  triangle.k = k[0];
  return triangle;
}

std::vector<TensorType> infer_trilu(const NodeView& node) {
  (void)triangle_of(node);
  return {node.input(0)};
}

std::vector<std::vector<Origin>> origins_of_trilu(const NodeView& node) {
  const Triangle triangle = triangle_of(node);
  const Shape shape = node.input(0).shape;
  return {origins_of(shape, [&](const Shape& at) {
    const std::int64_t diagonal = at[at.size() - 1] - at[at.size() - 2];
    const bool stays = triangle.upper ? diagonal >= triangle.k : diagonal <= triangle.k;
    return stays ? Origin{0, index_in(shape, at)} : Origin{};
  })};
}

/// What does not stay reads row -1, which is outside.
BoundProblem lower_trilu(const NodeView& node) {
  const Triangle triangle = triangle_of(node);
  const std::size_t rank = node.input(0).shape.size();
  Movement movement(node, 0, 0);
  const Shape& shape = node.input(0).shape;
  // Beyond a corner every diagonal takes all or nothing.
  (void)movement.size("DIAGONAL",
                      std::clamp(triangle.k, -shape[rank - 2] - 1, shape[rank - 1] + 1));
  const std::string row = "d" + std::to_string(rank - 2);
  const std::string distance = "d" + std::to_string(rank - 1) + " - " + row;
  const std::string goes = distance + (triangle.upper ? " < DIAGONAL" : " > DIAGONAL");
  std::vector<Expression> coordinates;
  for (std::size_t d = 0; d < rank; ++d) coordinates.push_back(Movement::at(d));
  coordinates[rank - 2] = Expression::parse(row + " - (" + row + " + 1) * (" + goes + ")", "Trilu");
  return movement.read_bounded(std::move(coordinates), 0.0);
}

void gradient_of_trilu(Gradient& gradient) {
  const NodeView& node = gradient.node();
  std::vector<TensorId> inputs{gradient.of_output()};
  if (node.has_input(1)) inputs.push_back(node.input_id(1));
  gradient.give(0, gradient.add("Trilu", inputs, {{"upper", node.integer("upper", 1)}}));
}

}  // namespace

const Operator& operator_Trilu() {
  static const Operator kOperator{
      .name = "Trilu",
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"upper"},
      .since_opset = 14,
      .infer = infer_trilu,
      .host = {.origins = origins_of_trilu},
      .lower = lower_trilu,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_trilu,
  };
  return kOperator;
}

}  // namespace morton::ops
