// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
Along cum_sum_rows(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  const std::vector<std::int64_t> axis = node.value_integers(1);
  if (axis.size() != 1) {
    node.fail("its axis (input 1) has " + std::to_string(axis.size()) + " numbers, expected one");
  }
  return along(rank, {node.axis(axis[0], rank, static_cast<std::int64_t>(rank) - 1)});
}

/// Each element with all before it, or those before it alone; with `reverse` those behind it.
ReferenceTensor reference_cum_sum(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor& source = inputs[0];
  const bool exclusive = node.flag("exclusive", 0);
  const bool reverse = node.flag("reverse", 0);
  ReferenceTensor result = source;
  for_each_row(cum_sum_rows(node), source.shape, [&](std::vector<std::size_t> row) {
    if (reverse) std::reverse(row.begin(), row.end());
    BoundedSum sum;
    double carried = 0.0;
    for (const std::size_t at : row) {
      const Bounded before = sum.result();
      sum.add({source.value[at], source.error[at]});
      carried += source.error[at];
      const Bounded value = exclusive ? before : sum.result();
      const DType type = node.input(0).dtype;
      result.value[at] = is_real(type) ? value.value : wrapped(type, value.value);
      result.error[at] = is_real(type) ? value.error : error_of_whole(value.value, carried);
    }
  });
  return result;
}

BoundProblem lower_cum_sum(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const Along rows = cum_sum_rows(node);
  BoundProblem bound;
  bound.problem.family = families::cumulative_sum;
  bound.problem.types["acc"] = node.input(0).dtype;
  using Structure = CumulativeSumStructure;
  const bool exclusive = node.integer("exclusive", 0) != 0;
  const bool reverse = node.integer("reverse", 0) != 0;
  bound.problem.structure =
      numbers_of(Structure{exclusive ? Structure::Own::excluded : Structure::Own::included,
                           reverse ? Structure::From::back : Structure::From::front});
  set_extents(bound.problem, rows, shape);
  bound.operands["src"] = {node.input_id(0), view_along(rows, shape)};
  bound.operands["dst"] = {node.output_id(), view_along(rows, shape)};
  return bound;
}

/// What comes back to an element is the sum over the results that it went into: those on the other
/// side.
void gradient_of_cum_sum(Gradient& gradient) {
  const NodeView& node = gradient.node();
  gradient.give(0, gradient.add("CumSum", {gradient.of_output(), node.input_id(1)},
                                {{"exclusive", node.integer("exclusive", 0)},
                                 {"reverse", std::int64_t{1} - node.integer("reverse", 0)}}));
}

}  // namespace

const Operator& operator_CumSum() {
  static const Operator kOperator{
      .name = "CumSum",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .attributes = {"exclusive", "reverse"},
      .since_opset = 11,
      .infer =
          [](const NodeView& node) {
            (void)cum_sum_rows(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .host = {.reference = reference_cum_sum},
      .lower = lower_cum_sum,
      .types = {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64, DType::u64},
      .gradient = gradient_of_cum_sum,
  };
  return kOperator;
}

}  // namespace morton::ops
