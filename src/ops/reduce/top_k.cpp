// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rooms.hpp"
#include "ops/math/along.hpp"
#include "ops/math/scattering.hpp"
#include "problems/order.hpp"

namespace morton::ops {
namespace {

Along top_k_row(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  if (rank == 0) node.fail("its input has no dimension to search along");
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return along(rank, {node.axis(node.integer("axis", -1), rank, last)});
}

/// The attribute before opset 10, then input 1.
std::int64_t count_of(const NodeView& node) {
  const bool attribute = node.opset() < 10;
  if (attribute && !node.has("k")) node.fail("the attribute 'k' is missing");
  std::int64_t count = node.integer("k", 0);
  if (!attribute) {
    const std::vector<std::int64_t> given = node.value_integers(1);
    if (given.size() != 1) {
      node.fail("k (input 1) has " + std::to_string(given.size()) + " numbers, expected one");
    }
    count = given[0];
  }
  const std::int64_t length = extent_of(node.input(0).shape, top_k_row(node).along);
  if (count < 0 || count > length) {
    node.fail("k is " + std::to_string(count) + ", expected 0 to " + std::to_string(length) +
              ", the elements along its axis");
  }
  return count;
}

std::vector<TensorType> infer_top_k(const NodeView& node) {
  TensorType values = node.input(0);
  (void)node.flag("sorted", 1);  // in order is one of the orders that 0 allows
  values.shape[static_cast<std::size_t>(top_k_row(node).along[0])] = count_of(node);
  return {values, {DType::i64, values.shape}};
}

/// The row's places in the order of the results: a NaN is beyond every number, of equal elements
/// the first comes first.
std::vector<std::size_t> order_of(const NodeView& node, const ReferenceTensor& source,
                                  const std::vector<std::size_t>& row) {
  const bool largest = node.flag("largest", 1);
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = source.value[row[a]];
    const double y = source.value[row[b]];
    if (std::isnan(x) || std::isnan(y)) {
      return largest ? std::isnan(x) && !std::isnan(y) : std::isnan(y) && !std::isnan(x);
    }
    return largest ? x > y : x < y;
  });
  return order;
}

/// The k-th of a row moves by at most the largest error in it. Its place may be that of any element
/// whose value lies within the errors of the two.
std::vector<ReferenceTensor> references_top_k(const NodeView& node,
                                              std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor& source = inputs[0];
  const auto count = static_cast<std::size_t>(count_of(node));
  const Along along_row = top_k_row(node);
  std::vector<ReferenceTensor> results(2);
  for (ReferenceTensor& result : results) {
    result.shape = infer_top_k(node)[0].shape;
    result.value.resize(static_cast<std::size_t>(element_count(result.shape)));
    result.error.resize(result.value.size());
  }
  std::vector<std::vector<std::size_t>> rows;
  for_each_row(along_row, results[0].shape, [&](const auto& row) { rows.push_back(row); });
  std::size_t number = 0;
  for_each_row(along_row, source.shape, [&](const std::vector<std::size_t>& row) {
    const std::vector<std::size_t> order = order_of(node, source, row);
    double worst = 0.0;
    for (const std::size_t at : row) worst = std::max(worst, source.error[at]);
    for (std::size_t k = 0; k < count; ++k) {
      const double value = source.value[row[order[k]]];
      double away = 0.0;
      for (std::size_t l = 0; worst > 0.0 && l < row.size(); ++l) {
        const bool open = std::fabs(source.value[row[l]] - value) <= 2.0 * worst;
        if (open)
          away = std::max(away, std::fabs(static_cast<double>(l) - static_cast<double>(order[k])));
      }
      const std::size_t to = rows[number][k];
      results[0].value[to] = value;
      results[0].error[to] = worst;
      results[1].value[to] = static_cast<double>(order[k]);
      results[1].error[to] = away;
    }
    ++number;
  });
  return results;
}

/// A problem for each output that is asked for: the values, and their places.
std::vector<BoundProblem> lower_top_k(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const Along row = top_k_row(node);
  std::vector<BoundProblem> parts;
  for (std::size_t output = 0; output < node.node().outputs.size(); ++output) {
    if (node.node().outputs[output] == kNoTensor) continue;
    BoundProblem bound;
    bound.problem.family = families::top_k;
    bound.problem.types["acc"] = output == 0 ? node.input(0).dtype : DType::i64;
    using Result = TopKStructure::Result;
    bound.problem.structure = numbers_of(
        TopKStructure{node.flag("largest", 1) ? FirstInOrder::largest : FirstInOrder::smallest,
                      output == 0 ? Result::values : Result::indices});
    set_extents(bound.problem, row, shape);
    bound.problem.extents["K"] = count_of(node);
    bound.operands["src"] = {node.input_id(0), view_along(row, shape)};
    bound.operands["dst"] = {node.output_id(output), view_along(row, shape, "K")};
    parts.push_back(std::move(bound));
  }
  return parts;
}

/// The values go back to their places.
void gradient_of_top_k(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const auto axis = static_cast<std::int64_t>(top_k_row(node).along[0]);
  const TensorId count = gradient.list({count_of(node)});
  const std::int64_t largest = node.integer("largest", 1);
  const TensorId places = gradient.add_several("TopK", {node.input_id(0), count}, 2,
                                               {{"axis", axis}, {"largest", largest}})[1];
  const TensorId none = zeros(gradient, node.input(0).dtype, node.input(0).shape);
  gradient.give(0, gradient.add("ScatterElements", {none, places, gradient.of_output()},
                                {{"axis", axis}, {"reduction", std::string("add")}}));
}

}  // namespace

const Operator& operator_TopK() {
  static const Operator kOperator{
      .name = "TopK",
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"axis", "k", "largest", "sorted"},
      .since_opset = 1,
      .infer = infer_top_k,
      .host = {.references = references_top_k},
      .parts = lower_top_k,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8, DType::u8, DType::i16,
                DType::u16, DType::i32, DType::u32, DType::i64, DType::u64},
      .takes_epilogue = false,
      .gradient = gradient_of_top_k,
  };
  return kOperator;
}

}  // namespace morton::ops
