// SPDX-License-Identifier: Apache-2.0
//
// Pools whose window is the whole image: reductions of it.
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {
namespace {

template <Reduction kReduction>
Operator global_pool_operator(std::string_view name) {
  return {
      .name = name,
      .since_opset = 1,
      .infer = infer_global_pool,
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_global_pool(node, inputs[0], kReduction);
                   }},
      .lower = [](const NodeView& node) { return lower_global_pool(node, kReduction); },
      .gradient = [](Gradient& gradient) { gradient_of_global_pool(gradient, kReduction); },
  };
}

/// A norm of each channel's image.
std::vector<TensorId> expand_global_lp_pool(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const std::int64_t p = node.integer("p", 2);
  if (p < 1) node.fail("p is " + std::to_string(p) + ", expected 1 or more");
  (void)along_image(node);
  std::vector<std::int64_t> axes;
  for (std::size_t d = 2; d < node.input(0).shape.size(); ++d) {
    axes.push_back(static_cast<std::int64_t>(d));
  }
  if (p <= 2) {
    return {expansion.add(p == 1 ? "ReduceL1" : "ReduceL2",
                          {expansion.input(0), expansion.list(axes)})};
  }
  const auto power = [&](TensorId value, double exponent) {
    return expansion.add("Pow", {value, expansion.scalar(expansion.type_of(value), exponent)});
  };
  const TensorId magnitudes = expansion.add("Abs", {expansion.input(0)});
  const TensorId sum = expansion.sum(power(magnitudes, static_cast<double>(p)), axes);
  return {power(sum, 1.0 / static_cast<double>(p))};
}

template <std::vector<TensorId> (*kExpand)(Expansion&)>
Operator norm_operator(std::string_view name) {
  return {.name = name, .attributes = {"p"}, .since_opset = 2, .expand = kExpand};
}

}  // namespace

const OperatorTable& global_pool_operators() {
  static const OperatorTable kTable{
      global_pool_operator<Reduction{.finish = Reduction::Finish::mean}>("GlobalAveragePool"),
      global_pool_operator<Reduction{.combine = Reduction::Combine::largest}>("GlobalMaxPool"),
      norm_operator<expand_global_lp_pool>("GlobalLpPool"),
  };
  return kTable;
}

}  // namespace morton::ops
