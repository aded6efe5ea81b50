// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// No index of any extent: an element that an index lacks changes nothing.
constexpr double kNoIndex = -2147483647.0;

/// One index for each update. They may be fewer than the data along other dimensions too.
std::vector<TensorType> infer_scatter_elements(const NodeView& node) {
  check_indices(node);
  check_updates(node);
  (void)reduction_of(node);
  const Shape data = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  if (data.empty()) node.fail("the data has no dimension to index");
  const std::size_t axis = node.axis_attribute();
  if (node.input(2).shape != indices) {
    node.fail("the updates are " + to_string(node.input(2).shape) + ", expected " +
              to_string(indices) + " as the indices");
  }
  bool fits = data.size() == indices.size();
  for (std::size_t d = 0; fits && d < data.size(); ++d) fits = d == axis || indices[d] <= data[d];
  if (!fits) {
    node.fail("the indices are " + to_string(indices) + ", the data " + to_string(data) +
              ": expected no greater extents but along axis " + std::to_string(axis));
  }
  check_known_indices(node, {data[axis]});
  return {node.input(0)};
}

ReferenceTensor reference_scatter_elements(const NodeView& node,
                                           std::span<const ReferenceTensor> inputs) {
  const Shape data = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  const std::size_t axis = node.axis_attribute();
  return scattered(node, inputs, places_of_updates(node, [&](std::int64_t update) {
                     Shape at(indices.size());
                     std::int64_t rest = update;
                     for (std::size_t d = indices.size(); d-- > 0;) {
                       at[d] = rest % indices[d];
                       rest /= indices[d];
                     }
                     at[axis] = wrapped_index(inputs[1], update, data[axis]);
                     return at[axis] < 0 ? std::int64_t{-1} : index_in(data, at);
                   }));
}

/// The coordinates of a tensor that is smaller than the data, where o and i count the data's.
View smaller_view(const BoundProblem& bound, const Shape& data, std::size_t axis,
                  const std::vector<std::string>& dimensions, const std::string& letter) {
  std::vector<Expression> coordinates(data.size());
  std::vector<Expression> extents;
  const auto split = [&](const std::string& name, std::size_t first, std::size_t end) {
    Expression below(1);
    for (std::size_t d = end; d-- > first;) {
      const Expression extent = bound.operands.at("src").view.extents[d];
      coordinates[d] = Expression::variable(name) / below;
      if (d > first) coordinates[d] = coordinates[d] % extent;
      below = extent * below;
    }
  };
  split("o", 0, axis);
  split("i", axis + 1, data.size());
  coordinates[axis] = Expression::variable("m");
  for (std::size_t d = 0; d < data.size(); ++d) {
    extents.push_back(Expression::variable(d == axis ? "M" : letter + std::to_string(d)));
  }
  View view = View::mapped(dimensions, std::move(coordinates), extents);
  view.grouping.reset();
  return view;
}

BoundProblem lower_scatter_elements(const NodeView& node) {
  const Shape data = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  const std::size_t axis = node.axis_attribute();
  const ScatterStructure structure{1, reduction_of(node), ScatterStructure::Indices::each};
  BoundProblem bound =
      scatter_problem(node, structure, {data[axis]}, axis, {static_cast<int>(axis)});
  Shape whole = data;
  whole[axis] = indices[axis];
  View index = bound.operands.at("update").view;
  if (whole != indices) {
    // o and i are the data's again.
    for (const auto& [name, group] : {std::pair{"O", 0}, std::pair{"I", 2}}) {
      const auto& joined =
          (*bound.operands.at("src").view.grouping)[static_cast<std::size_t>(group)];
      (void)joined_extents(bound.problem, name, data, {joined.begin(), joined.end()});
    }
    for (std::size_t d = 0; d < data.size(); ++d) {
      if (d != axis) bound.problem.extents["X" + std::to_string(d)] = indices[d];
    }
    View update = smaller_view(bound, data, axis, {"O", "M", "I"}, "X");
    update.bounded = true;
    bound.operands.at("update").view = std::move(update);
    index = smaller_view(bound, data, axis, {"O", "M", "L", "I"}, "X");
    index.bounded = true;
    index.outside = kNoIndex;
  } else {
    index.dimensions = {"O", "M", "L", "I"};
    index.grouping->insert(index.grouping->begin() + 2, JoinedDimensions{});
  }
  bound.operands["index"] = {node.input_id(1), std::move(index)};
  return bound;
}

void gradient_of_scatter_elements(Gradient& gradient) {
  const GraphWriter::Attributes along{{"axis", gradient.node().integer("axis", 0)}};
  gradient_of_scatter(gradient, {.reader = "GatherElements",
                                 .read_at = gradient.node().input_id(1),
                                 .reads = along,
                                 .writer = "ScatterElements",
                                 .writes = along});
}

template <std::int64_t kOpset>
Operator scatter_operator(std::string_view name) {
  Operator op{
      .name = name,
      .inputs = {.least = 3, .most = 3},
      .attributes = {"axis"},
      .since_opset = kOpset,
      .infer = infer_scatter_elements,
      .host = {.reference = reference_scatter_elements},
      .lower = lower_scatter_elements,
      .expand =
          [](Expansion& out) {
            return computes_with_nothing(out) ? std::vector<TensorId>{out.input(0)}
                                              : std::vector<TensorId>{};
          },
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_scatter_elements,
  };
  if (name != "Scatter") op.attributes.emplace_back("reduction");
  return op;
}

}  // namespace

const OperatorTable& scatter_elements_operators() {
  static const OperatorTable kTable{
      scatter_operator<9>("Scatter"),
      scatter_operator<11>("ScatterElements"),
  };
  return kTable;
}

}  // namespace morton::ops
