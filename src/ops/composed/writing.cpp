// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/writing.hpp"

#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"

namespace morton::ops {

DType computed_type(DType type) { return is_short_real(type) ? DType::f32 : type; }

TensorId widened(GraphWriter& writer, TensorId value) {
  if (value == kNoTensor) return value;
  return writer.converted(value, computed_type(writer.type_of(value)));
}

std::vector<std::int64_t> dimensions_between(std::size_t first, std::size_t last) {
  std::vector<std::int64_t> dimensions(last > first ? last - first : 0);
  std::iota(dimensions.begin(), dimensions.end(), static_cast<std::int64_t>(first));
  return dimensions;
}

TensorId part_along(GraphWriter& writer, TensorId value, std::size_t axis, std::int64_t start,
                    std::int64_t end) {
  const std::int64_t extent = writer.shape_of(value)[axis];
  if (start == 0 && end == extent) return value;
  return writer.add("Slice", {value, writer.list({start}), writer.list({end}),
                              writer.list({static_cast<std::int64_t>(axis)})});
}

TensorId joined_along(GraphWriter& writer, const std::vector<TensorId>& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts.front() : writer.add("Concat", parts, {{"axis", axis}});
}

RootMeanSquare root_mean_square(GraphWriter& writer, TensorId x,
                                const std::vector<std::int64_t>& axes, double epsilon) {
  std::int64_t count = 1;
  for (const std::int64_t axis : axes) count *= writer.shape_of(x)[static_cast<std::size_t>(axis)];
  const TensorId squares =
      writer.add("ReduceSumSquare", {x, writer.list(axes)}, {{"keepdims", std::int64_t{1}}});
  Chain root;
  const ScalarRef share = ScalarRef::constant(1.0 / static_cast<double>(count == 0 ? 1 : count));
  const ScalarRef mean = root.append(ScalarOp::mul, {ScalarRef::input(0), share});
  const ScalarRef above = root.append(ScalarOp::add, {mean, ScalarRef::constant(epsilon)});
  const ScalarRef deviation = root.append(ScalarOp::sqrt, {above});
  root.append(ScalarOp::div, {ScalarRef::constant(1.0), deviation});
  const TensorId inverse = writer.chain(root, {squares});
  return {writer.apply(ScalarOp::mul, {x, inverse}), inverse};
}

std::vector<std::int64_t> numbers_from(const NodeView& node, const char* name, std::size_t count,
                                       std::int64_t least) {
  auto numbers = node.integers(name, std::vector<std::int64_t>(count, least));
  if (numbers.size() != count) {
    node.fail("its " + std::string(name) + " has " + std::to_string(numbers.size()) +
              " numbers, expected " + std::to_string(count));
  }
  for (const std::int64_t number : numbers) {
    if (number >= least) continue;
    node.fail("its " + std::string(name) + " has " + std::to_string(number) + ", expected " +
              std::to_string(least) + " or more");
  }
  return numbers;
}

void require_real(const NodeView& node, std::size_t i) {
  if (!node.has_input(i) || is_real(node.input(i).dtype)) return;
  node.fail("input " + std::to_string(i) + " is of type " +
            std::string(name_of(node.input(i).dtype)) + ", expected reals");
}

void require_shape(const NodeView& node, std::size_t i, const Shape& expected, const char* what) {
  if (!node.has_input(i) || node.input(i).shape == expected) return;
  node.fail(std::string(what) + " (input " + std::to_string(i) + ") is " +
            to_string(node.input(i).shape) + ", expected " + to_string(expected));
}

void require_rank(const NodeView& node, std::size_t i, std::size_t rank, const char* what) {
  if (!node.has_input(i) || node.input(i).shape.size() == rank) return;
  node.fail(std::string(what) + " (input " + std::to_string(i) + ") is " +
            to_string(node.input(i).shape) + ", expected " + std::to_string(rank) + " dimensions");
}

}  // namespace morton::ops
