// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/type_number.hpp"

namespace morton::ops {
namespace {

/// 1 where a column's number is the row's and `k`.
std::vector<TensorId> expand_eye_like(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const TensorType input = node.input(0);
  if (input.shape.size() != 2) {
    node.fail("its input is " + to_string(input.shape) + ", expected a matrix");
  }
  const DType type = type_attribute(node, "dtype", input.dtype);
  // Diagonals beyond the corners have nothing.
  const std::int64_t diagonal = std::clamp(node.integer("k", 0), -input.shape[0], input.shape[1]);
  const TensorId rows = expansion.numbered(diagonal, {input.shape[0], 1});
  const TensorId columns = expansion.numbered(0, {1, input.shape[1]});
  return {expansion.converted(expansion.add("Equal", {rows, columns}), type)};
}

}  // namespace

const Operator& operator_EyeLike() {
  static const Operator kOperator{
      .name = "EyeLike",
      .attributes = {"dtype", "k"},
      .since_opset = 9,
      .expand = expand_eye_like,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
