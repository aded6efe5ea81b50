// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/along.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// The indices' dimensions stand in the place of the source's dimension `axis`.
std::vector<TensorType> infer_gather(const NodeView& node) {
  check_indices(node);
  const TensorType source = node.input(0);
  const Shape indices = node.input(1).shape;
  const auto axis = static_cast<std::ptrdiff_t>(node.axis_attribute());
  check_known_indices(node, {source.shape[node.axis_attribute()]});
  TensorType result{source.dtype, {source.shape.begin(), source.shape.begin() + axis}};
  result.shape.insert(result.shape.end(), indices.begin(), indices.end());
  result.shape.insert(result.shape.end(), source.shape.begin() + axis + 1, source.shape.end());
  if (result.shape.size() > kMaxRank) node.unsupported("more than 8 dimensions");
  return {result};
}

ReferenceTensor reference_gather(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Shape source = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  const std::size_t axis = node.axis_attribute();
  ReferenceTensor result;
  result.shape = infer_gather(node)[0].shape;
  const auto origins = origins_of(result.shape, [&](const Shape& at) {
    const auto first = at.begin() + static_cast<std::ptrdiff_t>(axis);
    const auto last = first + static_cast<std::ptrdiff_t>(indices.size());
    const std::int64_t index =
        wrapped_index(inputs[1], index_in(indices, {first, last}), source[axis]);
    if (index < 0) return Origin{};
    Shape from(at.begin(), first);
    from.push_back(index);
    from.insert(from.end(), last, at.end());
    return Origin{0, index_in(source, from)};
  });
  for (const Origin& origin : origins) {
    const auto at = static_cast<std::size_t>(origin.index);
    result.value.push_back(origin.input == 0 ? inputs[0].value[at] : 0.0);
    result.error.push_back(origin.input == 0 ? inputs[0].error[at] : 0.0);
  }
  return result;
}

BoundProblem lower_gather(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const std::size_t axis = node.axis_attribute();
  const std::size_t count = node.input(1).shape.size();
  std::vector<Expression> from;
  for (std::size_t t = 0; t < source.size(); ++t) {
    if (t == axis) {
      from.push_back(Expression::variable("i"));
    } else {
      from.push_back(Movement::at(t < axis ? t : t + count - 1));
    }
  }
  std::vector<Expression> index;
  for (std::size_t t = 0; t < count; ++t) index.push_back(Movement::at(axis + t));
  return gather_problem(node, std::move(from), std::move(index), {source[axis]});
}

/// What comes back to an element is the sum over the places that it was read for.
void gradient_of_gather(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Shape shape = node.input(0).shape;
  const Along rows = along(shape.size(), {node.axis_attribute()});
  const std::int64_t outer = extent_of(shape, rows.outer);
  const std::int64_t inner = extent_of(shape, rows.inner);
  const std::int64_t count = element_count(node.input(1).shape);
  const TensorId none =
      zeros(gradient, node.input(0).dtype, {outer, shape[node.axis_attribute()], inner});
  const TensorId sums =
      gradient.add("ScatterRows",
                   {none, gradient.reshaped(node.input_id(1), {1, count}),
                    gradient.reshaped(gradient.of_output(), {outer, count, inner})},
                   {{"reduction", std::string("add")}});
  gradient.give(0, gradient.reshaped(sums, shape));
}

}  // namespace

const Operator& operator_Gather() {
  static const Operator kOperator{
      .name = "Gather",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"axis"},
      .since_opset = 1,
      .infer = infer_gather,
      .host = {.reference = reference_gather},
      .lower = lower_gather,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_gather,
  };
  return kOperator;
}

}  // namespace morton::ops
