// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// One index for each element of the result.
std::vector<TensorType> infer_gather_elements(const NodeView& node) {
  check_indices(node);
  const Shape source = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  const std::size_t axis = node.axis_attribute();
  bool fits = source.size() == indices.size();
  for (std::size_t d = 0; fits && d < source.size(); ++d) {
    fits = d == axis || indices[d] <= source[d];
  }
  if (!fits) {
    node.fail("the indices are " + to_string(indices) + ", the data " + to_string(source) +
              ": expected no greater extents but along axis " + std::to_string(axis));
  }
  check_known_indices(node, {source[axis]});
  return {{node.input(0).dtype, indices}};
}

ReferenceTensor reference_gather_elements(const NodeView& node,
                                          std::span<const ReferenceTensor> inputs) {
  const Shape source = node.input(0).shape;
  const std::size_t axis = node.axis_attribute();
  ReferenceTensor result;
  result.shape = node.input(1).shape;
  std::int64_t next = 0;
  for (const Origin& origin : origins_of(result.shape, [&](const Shape& at) {
         Shape from = at;
         from[axis] = wrapped_index(inputs[1], next++, source[axis]);
         return from[axis] < 0 ? Origin{} : Origin{0, index_in(source, from)};
       })) {
    const auto at = static_cast<std::size_t>(origin.index);
    result.value.push_back(origin.input == 0 ? inputs[0].value[at] : 0.0);
    result.error.push_back(origin.input == 0 ? inputs[0].error[at] : 0.0);
  }
  return result;
}

BoundProblem lower_gather_elements(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const std::size_t axis = node.axis_attribute();
  std::vector<Expression> from;
  std::vector<Expression> index;
  for (std::size_t t = 0; t < source.size(); ++t) {
    from.push_back(t == axis ? Expression::variable("i") : Movement::at(t));
    index.push_back(Movement::at(t));
  }
  return gather_problem(node, std::move(from), std::move(index), {source[axis]});
}

/// What comes back to an element is the sum over the places that it was read for.
void gradient_of_gather_elements(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const TensorId none = zeros(gradient, node.input(0).dtype, node.input(0).shape);
  gradient.give(
      0, gradient.add("ScatterElements", {none, node.input_id(1), gradient.of_output()},
                      {{"axis", node.integer("axis", 0)}, {"reduction", std::string("add")}}));
}

}  // namespace

const Operator& operator_GatherElements() {
  static const Operator kOperator{
      .name = "GatherElements",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"axis"},
      .since_opset = 11,
      .infer = infer_gather_elements,
      .host = {.reference = reference_gather_elements},
      .lower = lower_gather_elements,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_gather_elements,
  };
  return kOperator;
}

}  // namespace morton::ops
