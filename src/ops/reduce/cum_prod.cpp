// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/along.hpp"
#include "ops/math/summation.hpp"
#include "problems/cumulative_sum.hpp"

namespace morton::ops {
namespace {

/// Along the one dimension that input 1 names.
Along cum_prod_rows(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const std::vector<std::int64_t> axis = node.value_integers(1);
  if (axis.size() != 1) {
    node.fail("its axis (input 1) has " + std::to_string(axis.size()) + " numbers, expected one");
  }
  return along(rank, {node.axis(axis[0], rank, static_cast<std::int64_t>(rank) - 1)});
}

Bounded times(DType type, const Bounded& a, const Bounded& b) {
  const double product = a.value * b.value;
  const double carried =
      std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  if (!is_real(type)) return {wrapped(type, product), error_of_whole(product, carried)};
  constexpr auto kFlushed = static_cast<double>(std::numeric_limits<float>::min());
  return {product, carried + kUnitRoundoff * (std::fabs(product) + carried) + kFlushed};
}

/// Each element times all before it, or those before it alone; with `reverse` those behind it.
ReferenceTensor reference_cum_prod(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor& source = inputs[0];
  const DType type = node.input(0).dtype;
  const bool exclusive = node.flag("exclusive", 0);
  const bool reverse = node.flag("reverse", 0);
  ReferenceTensor result = source;
  for_each_row(cum_prod_rows(node), source.shape, [&](std::vector<std::size_t> row) {
    if (reverse) std::reverse(row.begin(), row.end());
    Bounded product{1.0, 0.0};
    for (const std::size_t at : row) {
      const Bounded before = product;
      product = times(type, before, {source.value[at], source.error[at]});
      const Bounded value = exclusive ? before : product;
      result.value[at] = value.value;
      result.error[at] = value.error;
    }
  });
  return result;
}

BoundProblem lower_cum_prod(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const Along rows = cum_prod_rows(node);
  const DType type = node.input(0).dtype;
  BoundProblem bound;
  bound.problem.family = families::cumulative_product;
  bound.problem.types["acc"] = register_type(type);
  using Structure = CumulativeSumStructure;
  bound.problem.structure = numbers_of(
      Structure{node.flag("exclusive", 0) ? Structure::Own::excluded : Structure::Own::included,
                node.flag("reverse", 0) ? Structure::From::back : Structure::From::front});
  set_extents(bound.problem, rows, shape);
  bound.operands["src"] = {node.input_id(0), view_along(rows, shape)};
  bound.operands["dst"] = {node.output_id(), view_along(rows, shape)};
  return bound;
}

/// The values `step` places further along a dimension, against the product's direction; 0 beyond.
TensorId further(Gradient& gradient, TensorId value, std::size_t axis, std::int64_t step,
                 bool reverse) {
  const Shape shape = gradient.shape_of(value);
  Shape starts(shape.size(), 0);
  Shape ends = shape;
  Shape before(shape.size(), 0);
  Shape behind = before;
  if (reverse) {
    ends[axis] -= step;
    before[axis] = step;
  } else {
    starts[axis] = step;
    behind[axis] = step;
  }
  const TensorId kept = gradient.sliced(value, starts, ends, Shape(shape.size(), 1));
  return gradient.padded(kept, before, behind);
}

/// What comes back to element j is the product of those before it, times s[j] = g[j] + x[j+1] *
/// s[j+1], g being the output's gradient (with `exclusive` g[j+1]). Nothing is divided, so that
/// zeros do no harm. The recurrence is solved by doubling: each turn joins twice as many places.
/// Source: G. Blelloch, "Prefix sums and their applications", 1990.
void gradient_of_cum_prod(Gradient& gradient) {
  const NodeView& node = gradient.node();
  if (!gradient.wants(0)) return;
  const std::size_t rank = node.input(0).shape.size();
  const std::size_t axis =
      node.axis(node.value_integers(1)[0], rank, static_cast<std::int64_t>(rank) - 1);
  const bool reverse = node.flag("reverse", 0);
  const TensorId x = node.input_id(0);
  TensorId factor = further(gradient, x, axis, 1, reverse);
  TensorId sum = gradient.of_output();
  if (node.flag("exclusive", 0)) sum = further(gradient, sum, axis, 1, reverse);
  Chain joined;
  joined.input_count = 3;
  const ScalarRef rest = joined.append(ScalarOp::mul, {ScalarRef::input(1), ScalarRef::input(2)});
  joined.append(ScalarOp::add, {ScalarRef::input(0), rest});
  for (std::int64_t step = 1; step < node.input(0).shape[axis]; step *= 2) {
    const TensorId next = further(gradient, sum, axis, step, reverse);
    sum = gradient.chain(joined, {sum, factor, next});
    factor =
        gradient.apply(ScalarOp::mul, {factor, further(gradient, factor, axis, step, reverse)});
  }
  const TensorId before =
      gradient.add("CumProd", {x, node.input_id(1)},
                   {{"exclusive", std::int64_t{1}}, {"reverse", node.integer("reverse", 0)}});
  gradient.give(0, gradient.apply(ScalarOp::mul, {before, sum}));
}

}  // namespace

const Operator& operator_CumProd() {
  static const Operator kOperator{
      .name = "CumProd",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .attributes = {"exclusive", "reverse"},
      .since_opset = 26,
      .infer =
          [](const NodeView& node) {
            (void)cum_prod_rows(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .host = {.reference = reference_cum_prod},
      .lower = lower_cum_prod,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32, DType::u32, DType::i64,
                DType::u64},
      .gradient = gradient_of_cum_prod,
  };
  return kOperator;
}

}  // namespace morton::ops
