// SPDX-License-Identifier: Apache-2.0
#include "ops/math/movement.hpp"

#include <algorithm>

namespace morton::ops {
namespace {

std::string dimension(std::size_t d) { return "D" + std::to_string(d); }

std::vector<std::string> dimensions_for(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < std::max<std::size_t>(rank, 1); ++d) names.push_back(dimension(d));
  return names;
}

/// The whole of a tensor of this rank.
View whole_view(std::size_t rank) {
  if (rank == 0) return View::grouped(dimensions_for(0), {{}}, {});
  return View::identity(dimensions_for(rank));
}

void set_extents(const Shape& shape, Environment& extents) {
  for (std::size_t d = 0; d < shape.size(); ++d) extents[dimension(d)] = shape[d];
  if (shape.empty()) extents[dimension(0)] = 1;
}

}  // namespace

std::int64_t index_in(const Shape& shape, const Shape& at) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

std::vector<std::int64_t> attribute_or_input(const NodeView& node, std::string_view attribute,
                                             std::size_t i, std::vector<std::int64_t> otherwise) {
  if (node.has_input(i)) return node.value_integers(i);
  return node.integers(attribute, std::move(otherwise));
}

std::vector<std::size_t> axes_from(const NodeView& node, const std::vector<std::int64_t>& axes,
                                   std::size_t rank) {
  std::vector<std::size_t> result;
  for (const std::int64_t axis : axes) {
    result.push_back(node.axis(axis, rank, static_cast<std::int64_t>(rank) - 1));
    if (std::count(result.begin(), result.end(), result.back()) > 1) {
      node.fail("axis " + std::to_string(axis) + " stands twice");
    }
  }
  return result;
}

Movement::Movement(const NodeView& node, std::size_t input, std::size_t output)
    : source_(node.input(input).shape),
      result_(node.output(output).shape),
      from_(node.input_id(input)),
      to_(node.output_id(output)) {
  bound_.problem.family = families::pack;
  set_extents(result_, bound_.problem.extents);
}

Expression Movement::at(std::size_t d) {
  return Expression::variable(coordinate_name(dimension(d)));
}

Expression Movement::size(const std::string& name, std::int64_t value) {
  bound_.problem.extents[name] = value;
  return Expression::variable(name);
}

Expression Movement::source_extent(std::size_t t) {
  return Expression::variable("S" + std::to_string(t));
}

std::vector<Expression> Movement::source_extents() const {
  std::vector<Expression> extents;
  for (std::size_t t = 0; t < source_.size(); ++t) extents.push_back(source_extent(t));
  return extents;
}

BoundProblem Movement::read(std::vector<Expression> coordinates) {
  for (std::size_t t = 0; t < source_.size(); ++t) (void)size("S" + std::to_string(t), source_[t]);
  View view =
      View::mapped(dimensions_for(result_.size()), std::move(coordinates), source_extents());
  // What is read several times is no bijection, whatever its coordinates spell.
  if (element_count(source_) != element_count(result_)) view.grouping.reset();
  bound_.operands["src"] = {from_, std::move(view)};
  bound_.operands["dst"] = {to_, whole_view(result_.size())};
  return bound_;
}

BoundProblem Movement::read_bounded(std::vector<Expression> coordinates, double outside) {
  BoundProblem bound = read(std::move(coordinates));
  View& view = bound.operands.at("src").view;
  view.grouping.reset();
  view.bounded = true;
  view.outside = outside;
  return bound;
}

BoundProblem Movement::permute(const std::vector<std::size_t>& order) {
  std::vector<Expression> coordinates(source_.size());
  for (std::size_t d = 0; d < order.size(); ++d) coordinates[order[d]] = at(d);
  BoundProblem bound = read(std::move(coordinates));
  if (source_.empty()) bound.operands.at("src").view = whole_view(0);
  return bound;
}

BoundProblem part_problem(const NodeView& node, std::size_t input, std::size_t axis,
                          std::int64_t offset) {
  const Shape source = node.input(input).shape;
  const Shape result = node.output().shape;
  BoundProblem bound;
  bound.problem.family = families::pack;
  set_extents(source, bound.problem.extents);
  bound.problem.extents["OFFSET"] = offset;
  std::vector<Expression> coordinates;
  std::vector<Expression> extents;
  for (std::size_t d = 0; d < result.size(); ++d) {
    coordinates.push_back(Movement::at(d));
    if (d == axis) coordinates.back() = Movement::at(d) + Expression::variable("OFFSET");
    extents.push_back(Expression::variable("T" + std::to_string(d)));
    bound.problem.extents["T" + std::to_string(d)] = result[d];
  }
  bound.operands["src"] = {node.input_id(input), whole_view(source.size())};
  bound.operands["dst"] = {node.output_id(),
                           View::mapped(dimensions_for(source.size()), coordinates, extents)};
  return bound;
}

bool is_depth_first(const NodeView& node) {
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.fail("mode is '" + mode + "', expected DCR or CRD");
  return mode == "DCR";
}

}  // namespace morton::ops
