// SPDX-License-Identifier: Apache-2.0
#include "ops/normalization.hpp"

namespace morton {
namespace {

Along rows_of(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return along(rank, {node.axis(node.integer("axis", -1), rank, last)});
}

Norm norm_of(const NodeView& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.fail("p is " + std::to_string(p) + ", expected 1 or 2");
  return p == 1 ? Norm::magnitudes : Norm::squares;
}

}  // namespace

const Operator& operator_LpNormalization() {
  static const Operator kOperator{
      .name = "LpNormalization",
      .attributes = {"axis", "p"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) {
            (void)rows_of(node);
            (void)norm_of(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .reference =
          [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
            return reference_normalize(rows_of(node), inputs[0], norm_of(node), 0.0);
          },
      .lower =
          [](const NodeView& node) {
            return lower_normalize(node, rows_of(node), norm_of(node), 0.0);
          },
  };
  return kOperator;
}

}  // namespace morton
