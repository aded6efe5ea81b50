// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

std::size_t concat_axis(const NodeView& node) {
  if (!node.has("axis")) node.fail("attribute 'axis' is missing");
  return node.axis_attribute();
}

/// The inputs agree in all dimensions but `axis`, along which they follow each other.
std::vector<TensorType> infer_concat(const NodeView& node) {
  TensorType result = node.input(0);
  const std::size_t axis = concat_axis(node);
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    const TensorType next = node.input(i);
    Shape expected = result.shape;
    if (next.shape.size() == expected.size()) expected[axis] = next.shape[axis];
    if (next.shape != expected || next.dtype != result.dtype) {
      node.fail("input " + std::to_string(i) + " is " + std::string(name_of(next.dtype)) + " " +
                to_string(next.shape) + ", expected " + std::string(name_of(result.dtype)) + " " +
                to_string(expected) + " except along axis " + std::to_string(axis));
    }
    result.shape[axis] = checked_add(result.shape[axis], next.shape[axis], "Concat");
  }
  return {result};
}

std::vector<std::vector<Origin>> origins_of_concat(const NodeView& node) {
  const std::size_t axis = concat_axis(node);
  return {origins_of(infer_concat(node)[0].shape, [&](const Shape& at) {
    Shape from = at;
    int input = 0;
    while (from[axis] >= node.input(static_cast<std::size_t>(input)).shape[axis]) {
      from[axis] -= node.input(static_cast<std::size_t>(input)).shape[axis];
      ++input;
    }
    return Origin{input, index_in(node.input(static_cast<std::size_t>(input)).shape, from)};
  })};
}

/// One problem for each input that has elements.
std::vector<BoundProblem> parts_of_concat(const NodeView& node) {
  const std::size_t axis = concat_axis(node);
  const std::int64_t whole = node.output().shape[axis];
  std::vector<BoundProblem> parts;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const Shape shape = node.input(i).shape;
    if (shape[axis] == whole) {
      std::vector<std::size_t> order;
      for (std::size_t d = 0; d < shape.size(); ++d) order.push_back(d);
      return {Movement(node, i, 0).permute(order)};
    }
    if (element_count(shape) > 0) parts.push_back(part_problem(node, i, axis, offset));
    offset += shape[axis];
  }
  return parts;
}

void gradient_of_concat(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const std::size_t axis = concat_axis(node);
  const Shape whole = gradient.shape_of(gradient.of_output());
  std::vector<std::int64_t> starts(whole.size(), 0);
  std::vector<std::int64_t> ends = whole;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    ends[axis] = starts[axis] + node.input(i).shape[axis];
    if (gradient.wants(i)) {
      const std::vector<std::int64_t> steps(whole.size(), 1);
      gradient.give(i, gradient.sliced(gradient.of_output(), starts, ends, steps));
    }
    starts[axis] = ends[axis];
  }
}

}  // namespace

const Operator& operator_Concat() {
  static const Operator kOperator{
      .name = "Concat",
      .inputs = {.most = kAnyNumber},
      .attributes = {"axis"},
      .since_opset = 4,
      .infer = infer_concat,
      .host = {.origins = origins_of_concat},
      .parts = parts_of_concat,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_concat,
  };
  return kOperator;
}

}  // namespace morton::ops
