// SPDX-License-Identifier: Apache-2.0
//
// ArgMax and ArgMin: the place of the extreme along one dimension.
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "ops/math/along.hpp"
#include "ops/math/extreme.hpp"
#include "problems/order.hpp"

namespace morton::ops {
namespace {

using Extreme = FirstInOrder;

Along arg_extreme_row(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  if (rank == 0) node.fail("its input has no dimension to search along");
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return along(rank, {node.axis(node.integer("axis", 0), rank, last)});
}

Reduced arg_extreme_shape(const NodeView& node) {
  return node.flag("keepdims", 1) ? Reduced::kept_as_one : Reduced::dropped;
}

/// The places are i64.
std::vector<TensorType> infer_arg(const NodeView& node) {
  (void)node.flag("select_last_index", 0);
  return {{DType::i64,
           reduced_shape(arg_extreme_row(node), node.input(0).shape, arg_extreme_shape(node))}};
}

/// Where errors leave open which element is the extreme, the result is off by as much as another
/// that may be it is away.
ReferenceTensor reference_arg(const NodeView& node, const ReferenceTensor& source,
                              Extreme extreme) {
  const bool last = node.flag("select_last_index", 0);
  const double sign = extreme == Extreme::smallest ? -1.0 : 1.0;
  ReferenceTensor result;
  result.shape = infer_arg(node)[0].shape;
  for_each_row(arg_extreme_row(node), source.shape, [&](const std::vector<std::size_t>& row) {
    std::size_t best = 0;
    for (std::size_t l = 1; l < row.size(); ++l) {
      const double value = source.value[row[l]];
      const double known = source.value[row[best]];
      const bool equal = !is_beyond(value, known, extreme) && !is_beyond(known, value, extreme);
      if (is_beyond(value, known, extreme) || (last && equal)) best = l;
    }
    const std::size_t at = row[best];
    const double least = sign * source.value[at] - source.error[at];
    double away = 0.0;
    for (std::size_t l = 0; l < row.size(); ++l) {
      const double error = source.error[row[l]];
      const bool exact = error == 0.0 && source.error[at] == 0.0;
      if (exact || sign * source.value[row[l]] + error < least) continue;
      away = std::max(away, std::fabs(static_cast<double>(l) - static_cast<double>(best)));
    }
    result.value.push_back(static_cast<double>(best));
    result.error.push_back(away);
  });
  return result;
}

BoundProblem lower_arg(const NodeView& node, Extreme extreme) {
  const Shape shape = node.input(0).shape;
  const Along row = arg_extreme_row(node);
  BoundProblem bound;
  bound.problem.family = families::arg_max;
  bound.problem.types["acc"] = DType::i64;
  using Equals = ArgMaxStructure::Equals;
  const bool last = node.integer("select_last_index", 0) != 0;
  bound.problem.structure =
      numbers_of(ArgMaxStructure{extreme, last ? Equals::last : Equals::first});
  set_extents(bound.problem, row, shape);
  bound.operands["src"] = {node.input_id(0), view_along(row, shape)};
  bound.operands["dst"] = {node.output_id(), view_of_reduced(row, shape, arg_extreme_shape(node))};
  return bound;
}

template <Extreme kExtreme>
Operator arg_operator(std::string_view name) {
  return {
      .name = name,
      .attributes = {"axis", "keepdims", "select_last_index"},
      .since_opset = 1,
      .infer = infer_arg,
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_arg(node, inputs[0], kExtreme);
                   }},
      .lower = [](const NodeView& node) { return lower_arg(node, kExtreme); },
      .types = {DType::f32, DType::f64, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32,
                DType::u32, DType::i64, DType::u64},
  };
}

}  // namespace

const OperatorTable& arg_extreme_operators() {
  static const OperatorTable kTable{
      arg_operator<Extreme::largest>("ArgMax"),
      arg_operator<Extreme::smallest>("ArgMin"),
  };
  return kTable;
}

}  // namespace morton::ops
