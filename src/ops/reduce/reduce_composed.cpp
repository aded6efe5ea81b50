// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce_composed.hpp"

#include <cmath>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"

namespace morton::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The least number of a type, or its largest.
TensorId end_of_type(Expansion& expansion, DType type, Reduction::Combine combine) {
  const bool wants_least = combine == Reduction::Combine::largest;
  if (is_real(type)) return expansion.scalar(type, wants_least ? -kInfinity : kInfinity);
  const auto bits = static_cast<int>(8 * size_of(type));
  const TensorId least =
      expansion.scalar(type, is_unsigned(type) ? 0.0 : -std::ldexp(1.0, bits - 1));
  return wants_least ? least : expansion.add("BitwiseNot", {least});
}

/// What a reduction makes of no elements.
TensorId of_nothing(Expansion& expansion, const Reduction& reduction) {
  const DType type = expansion.node().input(0).dtype;
  switch (reduction.finish) {
    case Reduction::Finish::mean:
      if (!is_real(type)) expansion.node().fail("takes the mean of no elements");
      return expansion.scalar(type, std::numeric_limits<double>::quiet_NaN());
    case Reduction::Finish::logarithm:
      return expansion.scalar(type, -kInfinity);
    case Reduction::Finish::none:
    case Reduction::Finish::square_root:
      break;
  }
  if (reduction.combine == Reduction::Combine::product) return expansion.scalar(type, 1.0);
  if (reduction.combine == Reduction::Combine::sum) return expansion.scalar(type, 0.0);
  return end_of_type(expansion, type, reduction.combine);
}

TensorId of_bytes(Expansion& expansion) {
  const NodeView& node = expansion.node();
  std::vector<std::int64_t> axes;
  for (const std::size_t axis : reduced_axes(node)) {
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  const TensorId bytes = expansion.converted(expansion.input(0), DType::u8);
  const TensorId reduced = expansion.add(
      node.node().op, {bytes, expansion.list(axes)},
      {{"keepdims", node.integer("keepdims", 1)}, {"noop_with_empty_axes", std::int64_t{1}}});
  return expansion.converted(reduced, DType::boolean);
}

}  // namespace

std::vector<TensorId> expand_reduction(Expansion& expansion, const Reduction& reduction) {
  const NodeView& node = expansion.node();
  const TensorType result = infer_reduction(node)[0];
  if (result.dtype == DType::boolean) return {of_bytes(expansion)};
  if (element_count(node.input(0).shape) > 0 || element_count(result.shape) == 0) return {};
  return {expansion.expanded(of_nothing(expansion, reduction), result.shape)};
}

}  // namespace morton::ops
