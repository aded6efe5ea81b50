// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// Data O x D x I, indices B x M, updates O x M x I. O is a multiple of B.
std::vector<TensorType> infer_scatter_rows(const NodeView& node) {
  check_indices(node);
  check_updates(node);
  (void)reduction_of(node);
  const Shape data = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  const Shape updates = node.input(2).shape;
  const bool ranks = data.size() == 3 && indices.size() == 2 && updates.size() == 3;
  if (!ranks || indices[0] < 1 || data[0] % indices[0] != 0 || updates[0] != data[0] ||
      updates[1] != indices[1] || updates[2] != data[2]) {
    node.fail("indices of " + to_string(indices) + " and updates of " + to_string(updates) +
              " do not fit data of " + to_string(data));
  }
  return {node.input(0)};
}

ReferenceTensor reference_scatter_rows(const NodeView& node,
                                       std::span<const ReferenceTensor> inputs) {
  const Shape data = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  const std::int64_t alike = data[0] / indices[0];
  return scattered(node, inputs, places_of_updates(node, [&](std::int64_t update) {
                     const std::int64_t i = update % data[2];
                     const std::int64_t m = update / data[2] % indices[1];
                     const std::int64_t o = update / data[2] / indices[1];
                     const std::int64_t d =
                         wrapped_index(inputs[1], o / alike * indices[1] + m, data[1]);
                     return d < 0 ? d : (o * data[1] + d) * data[2] + i;
                   }));
}

BoundProblem lower_scatter_rows(const NodeView& node) {
  const Shape indices = node.input(1).shape;
  const ScatterStructure structure{1, reduction_of(node), ScatterStructure::Indices::shared};
  BoundProblem bound = scatter_problem(node, structure, {node.input(0).shape[1]}, 1, {1});
  bound.problem.extents["B"] = indices[0];
  bound.problem.extents["ALIKE"] = node.input(0).shape[0] / indices[0];
  View index = View::mapped(
      {"O", "M", "L", "I"},
      {Expression::variable("o") / Expression::variable("ALIKE"), Expression::variable("m")},
      {Expression::variable("B"), Expression::variable("M")});
  index.grouping.reset();
  bound.operands["index"] = {node.input_id(1), std::move(index)};
  return bound;
}

void gradient_of_scatter_rows(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Shape updates = node.input(2).shape;
  const Shape own = node.input(1).shape;
  const TensorId indices = node.input_id(1);
  const TensorId each = gradient.expanded(gradient.reshaped(indices, {own[0], 1, own[1], 1}),
                                          {own[0], updates[0] / own[0], updates[1], updates[2]});
  gradient_of_scatter(gradient, {.reader = "GatherElements",
                                 .read_at = gradient.reshaped(each, updates),
                                 .reads = {{"axis", std::int64_t{1}}},
                                 .writer = "ScatterRows"});
}

}  // namespace

/// Not of ONNX: ScatterElements along the middle one of three dimensions, by indices that all
/// columns share. An index outside changes nothing.
const Operator& operator_ScatterRows() {
  static const Operator kOperator{
      .name = "ScatterRows",
      .inputs = {.least = 3, .most = 3},
      .attributes = {"reduction"},
      .since_opset = 1,
      .infer = infer_scatter_rows,
      .host = {.reference = reference_scatter_rows},
      .lower = lower_scatter_rows,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_scatter_rows,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
