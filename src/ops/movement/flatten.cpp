// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) result = checked_mul(result, extent, "Flatten");
  return result;
}

/// Two dimensions: those before `axis` joined, and the rest joined.
std::vector<TensorType> infer_flatten(const NodeView& node) {
  const TensorType input = node.input(0);
  const std::span<const std::int64_t> shape(input.shape);
  const auto last = static_cast<std::int64_t>(shape.size());
  const std::size_t axis = node.axis(node.integer("axis", 1), shape.size(), last);
  return {{input.dtype, {product(shape.first(axis)), product(shape.subspan(axis))}}};
}

}  // namespace

const Operator& operator_Flatten() {
  static const Operator kOperator{
      .name = "Flatten",
      .attributes = {"axis"},
      .since_opset = 1,
      .infer = infer_flatten,
      .host = {.alias = true},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
