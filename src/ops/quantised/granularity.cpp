// SPDX-License-Identifier: Apache-2.0
#include "ops/quantised/granularity.hpp"

#include "base/numbers/small_types.hpp"
#include "base/shape.hpp"

namespace morton::ops {
namespace {

/// The dimension along which scales differ. A vector has but one, whatever the attribute says.
std::size_t quantised_axis(const NodeView& node) {
  const auto rank = node.input(0).shape.size();
  if (rank <= 1) return 0;
  return node.axis(node.integer("axis", 1), rank, static_cast<std::int64_t>(rank) - 1);
}

std::string_view called(std::size_t input) { return input == 1 ? "scale" : "zero point"; }

[[noreturn]] void fail_shape(const NodeView& node, std::size_t input, const std::string& expected) {
  node.fail("the " + std::string(called(input)) + " has the shape " +
            to_string(node.input(input).shape) + "; expected " + expected);
}

/// One for each block along the axis: each is repeated, and what stands out is cut off.
TensorId spread_blocks(Expansion& to, std::size_t input, std::size_t axis, std::int64_t block) {
  const NodeView& node = to.node();
  const Shape whole = node.input(0).shape;
  const Shape given = node.input(input).shape;
  Shape expected = whole;
  if (axis < whole.size()) expected[axis] = (whole[axis] + block - 1) / block;
  if (given != expected) {
    fail_shape(node, input,
               to_string(expected) + ": a number for each block of " + std::to_string(block));
  }
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (d < axis) outer *= whole[d];
    if (d > axis) inner *= whole[d];
  }
  const std::int64_t count = given[axis];
  const TensorId apart = to.reshaped(to.input(input), {outer, count, 1, inner});
  const TensorId repeated = to.expanded(apart, {outer, count, block, inner});
  const TensorId joined = to.reshaped(repeated, {outer, count * block, inner});
  const Shape cut{outer, whole[axis], inner};
  const bool fits = count * block == whole[axis];
  return to.reshaped(fits ? joined : to.sliced(joined, {0, 0, 0}, cut, {1, 1, 1}), whole);
}

/// Input 1 or 2, the scales or zero points, in a shape that broadcasts to that of input 0: one for
/// all, one for each place along the axis, or one for each block along it. Throws ModelError where
/// their shape fits none of these.
TensorId spread_parameter(Expansion& to, std::size_t input) {
  const NodeView& node = to.node();
  const Shape whole = node.input(0).shape;
  const Shape given = node.input(input).shape;
  const std::int64_t block = node.integer("block_size", 0);
  if (block < 0) node.fail("block_size is " + std::to_string(block) + "; expected 1 or more");
  if (given.empty()) return to.input(input);
  const std::size_t axis = quantised_axis(node);
  if (block > 0 && !whole.empty()) return spread_blocks(to, input, axis, block);
  if (given == Shape{1}) return to.reshaped(to.input(input), {});
  const std::int64_t extent = whole.empty() ? 1 : whole[axis];
  if (given != Shape{extent}) {
    fail_shape(node, input, "a scalar, or " + std::to_string(extent) + " along the axis");
  }
  Shape along(whole.size(), 1);
  along[axis] = extent;
  return to.reshaped(to.input(input), along);
}

void check_zero_points(const NodeView& node, DType type) {
  if (!node.has_input(2)) return;
  const TensorType zero = node.input(2);
  if (zero.dtype != type) {
    node.fail("the zero point is of type " + std::string(name_of(zero.dtype)) + "; expected " +
              std::string(name_of(type)));
  }
  const Shape scale = node.input(1).shape;
  const auto is_one = [](const Shape& shape) { return shape.empty() || shape == Shape{1}; };
  if (zero.shape == scale || (is_one(zero.shape) && is_one(scale))) return;
  node.fail("the zero point has the shape " + to_string(zero.shape) + " and the scale " +
            to_string(scale) + "; they must be the same");
}

}  // namespace

std::vector<TensorId> quantisation_operands(Expansion& to, DType type) {
  check_zero_points(to.node(), type);
  std::vector<TensorId> operands{to.input(0), spread_parameter(to, 1)};
  if (to.node().has_input(2)) operands.push_back(spread_parameter(to, 2));
  return operands;
}

std::optional<ScalarRef> known_number(const NodeView& node, std::size_t i, DType target) {
  const Tensor* known = node.constant(i);
  const bool fits = target == DType::f32 && bits_of(node.input(i).dtype) <= 32 &&
                    node.input(i).dtype != DType::i32 && node.input(i).dtype != DType::u32;
  if (known == nullptr || known->size() != 1 || !fits) return std::nullopt;
  return ScalarRef::constant(known->at(0));
}

bool is_zero(const NodeView& node, std::size_t i) {
  const Tensor* known = node.constant(i);
  if (known == nullptr) return false;
  for (std::int64_t e = 0; e < known->size(); ++e) {
    if (known->at(e) != 0.0) return false;
  }
  return true;
}

}  // namespace morton::ops
