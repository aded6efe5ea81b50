// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/normalization.hpp"

namespace morton::ops {
namespace {

Along lp_norm_rows(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return along(rank, {node.axis(node.integer("axis", -1), rank, last)});
}

Norm norm_of(const NodeView& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.fail("p is " + std::to_string(p) + ", expected 1 or 2");
  return p == 1 ? Norm::magnitudes : Norm::squares;
}

/// Of y = x / n: (g - d * sum(g * y)) / n, d being n's slope: y itself for the length of x, the
/// signs of x for the sum of its magnitudes. Rows of zeros have no slope; 0 stands for it.
void gradient_of_lp_normalization(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const std::vector<int> dims = lp_norm_rows(node).along;
  const std::vector<std::int64_t> axes(dims.begin(), dims.end());
  const TensorId x = node.input_id(0);
  const TensorId y = node.output_id();
  const TensorId output_gradient = gradient.of_output();
  const bool squares = norm_of(node) == Norm::squares;
  const TensorId terms =
      squares ? gradient.apply(ScalarOp::mul, {x, x}) : gradient.apply(ScalarOp::abs, {x});
  const TensorId sum = gradient.sum(terms, axes);
  const TensorId norm = squares ? gradient.apply(ScalarOp::sqrt, {sum}) : sum;
  const TensorId share = gradient.sum(gradient.apply(ScalarOp::mul, {output_gradient, y}), axes);
  const TensorId slope = squares ? y : gradient.apply(ScalarOp::sign, {x});
  Chain chain;
  chain.input_count = 4;
  const ScalarRef along = chain.append(ScalarOp::mul, {ScalarRef::input(1), ScalarRef::input(2)});
  const ScalarRef rest = chain.append(ScalarOp::sub, {ScalarRef::input(0), along});
  const ScalarRef quotient = chain.append(ScalarOp::div, {rest, ScalarRef::input(3)});
  const ScalarRef zero = ScalarRef::constant(0.0);
  const ScalarRef is_zero = chain.append(ScalarOp::equal, {ScalarRef::input(3), zero});
  chain.append(ScalarOp::select, {is_zero, zero, quotient});
  gradient.give(0, gradient.chain(chain, {output_gradient, slope, share, norm}));
}

}  // namespace

const Operator& operator_LpNormalization() {
  static const Operator kOperator{
      .name = "LpNormalization",
      .attributes = {"axis", "p"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) {
            (void)lp_norm_rows(node);
            (void)norm_of(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_normalize(lp_norm_rows(node), inputs[0], norm_of(node), 0.0);
                   }},
      .lower =
          [](const NodeView& node) {
            return lower_normalize(node, lp_norm_rows(node), norm_of(node), 0.0);
          },
      .gradient = gradient_of_lp_normalization,
  };
  return kOperator;
}

}  // namespace morton::ops
