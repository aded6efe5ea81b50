// SPDX-License-Identifier: Apache-2.0
//
// Operators that join the elements along a late extent: what is void becomes what changes nothing.
#include <algorithm>
#include <array>
#include <limits>

#include "ops/core/node_view.hpp"
#include "ops/math/reduction.hpp"
#include "passes/shapes/late_extents.hpp"

namespace morton::passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The node once more, with another input in the place of its first ones.
void again(LateTable& table, const Node& node, const std::vector<TensorId>& inputs) {
  Node copy = node;
  std::ranges::copy(inputs, copy.inputs.begin());
  table.out().add(std::move(copy));
}

/// The late ones among `axes`.
std::vector<std::size_t> late_of(const LateTable& table, TensorId id,
                                 const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> late;
  for (const std::size_t axis : axes) {
    if (table.count(id, axis) != kNoTensor) late.push_back(axis);
  }
  return late;
}

bool write_reduced(LateTable& table, const Node& node, const std::vector<std::size_t>& axes,
                   double neutral) {
  const auto late = late_of(table, node.inputs[0], axes);
  TensorId id = node.inputs[0];
  for (const std::size_t axis : late) id = table.masked(id, axis, neutral);
  if (!late.empty()) again(table, node, {id});
  return !late.empty();
}

template <int kNeutral>
bool write_reduce(LateTable& table, const Node& node) {
  const double neutral = kNeutral == 2 ? -kInfinity : kNeutral == 3 ? kInfinity : kNeutral;
  return write_reduced(table, node, reduced_axes(NodeView(table.graph(), node)), neutral);
}

template <int kNeutral>
bool write_first(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const double neutral = kNeutral == 2 ? -kInfinity : kInfinity;
  const std::size_t axis = view.axis_attribute();
  // The first of equals lies before all void; the last may be void.
  if (table.count(node.inputs[0], axis) != kNoTensor && view.flag("select_last_index", 0)) {
    table.refuse(node, "select_last_index along an extent that follows from data");
  }
  return write_reduced(table, node, {axis}, neutral);
}

/// The sum of what is there over how much there is.
bool write_mean(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  const TensorId input = node.inputs[0];
  const auto axes = reduced_axes(view);
  const auto late = late_of(table, input, axes);
  if (late.empty()) return false;
  TensorId id = input;
  for (const std::size_t axis : late) id = table.masked(id, axis, 0.0);
  // The sum of halves may be beyond their range.
  const DType type = view.input(0).dtype;
  const bool is_short = type == DType::f16 || type == DType::bf16;
  if (is_short) id = out.add("Cast", {id}, {{"to", std::int64_t{1}}});
  std::vector<std::int64_t> along;
  LateNumber terms{1, 1};
  std::int64_t known = 1;
  for (const std::size_t axis : axes) {
    along.push_back(static_cast<std::int64_t>(axis));
    const LateNumber extent = table.extent(input, axis);
    if (extent.is_known()) {
      known *= extent.low;
    } else if (terms.is_known()) {
      terms = extent;
    } else {
      table.refuse(node, "it joins two late extents");
    }
  }
  const TensorId sum =
      out.add("ReduceSum", {id, out.list(along)}, {{"keepdims", view.integer("keepdims", 1)}});
  // Of nothing it is 0, as in ONNX Runtime.
  const TensorId terms_there =
      out.add("Max", {table.tensor_of(table.scaled(node, terms, known)), out.list({1})});
  const TensorId count = out.add("Reshape", {terms_there, out.list({})});
  const TensorId mean = out.add("Div", {sum, out.add("CastLike", {count, sum})});
  out.copy(is_short ? out.add("CastLike", {mean, input}) : mean, node.outputs[0]);
  return true;
}

/// Void has no share.
bool write_softmax(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const std::size_t rank = view.input(0).shape.size();
  const std::size_t axis = view.axis(view.integer("axis", view.opset() < 13 ? 1 : -1), rank,
                                     static_cast<std::int64_t>(rank) - 1);
  std::vector<std::size_t> axes{axis};
  // Before opset 13 all from the axis on.
  for (std::size_t d = axis + 1; view.opset() < 13 && d < rank; ++d) axes.push_back(d);
  const auto late = late_of(table, node.inputs[0], axes);
  if (late.empty()) return false;
  TensorId id = node.inputs[0];
  for (const std::size_t d : late) id = table.masked(id, d, -kInfinity);
  again(table, node, {table.whole(id)});
  table.define(node.outputs[0], table.counts(node.inputs[0]));
  return true;
}

bool write_cumulative(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const TensorId input = node.inputs[0];
  const auto rank = static_cast<std::int64_t>(view.input(0).shape.size());
  const std::size_t axis =
      view.axis(view.value_integers(1).at(0), static_cast<std::size_t>(rank), rank - 1);
  if (table.count(input, axis) == kNoTensor) return false;
  again(table, node, {table.whole(table.masked(input, axis, node.op == "CumProd" ? 1.0 : 0.0))});
  table.define(node.outputs[0], table.counts(input));
  return true;
}

/// Zeros in both operands along the dimension that a product joins.
bool write_product(LateTable& table, const Node& node, std::size_t of_lhs, std::size_t of_rhs) {
  const TensorId lhs = node.inputs[0];
  const TensorId rhs = node.inputs[1];
  const TensorId count = table.count(lhs, of_lhs);
  if (count == kNoTensor && table.count(rhs, of_rhs) == kNoTensor) return false;
  if (count != table.count(rhs, of_rhs)) {
    table.refuse(node, "it joins a late extent with another one");
  }
  again(table, node, {table.masked(lhs, of_lhs, 0.0), table.masked(rhs, of_rhs, 0.0)});
  return true;
}

bool write_mat_mul(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const std::size_t lhs = view.input(0).shape.size();
  const std::size_t rhs = view.input(1).shape.size();
  return write_product(table, node, lhs - 1, rhs == 1 ? 0 : rhs - 2);
}

bool write_gemm(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  return write_product(table, node, view.flag("transA", 0) ? 0 : 1, view.flag("transB", 0) ? 1 : 0);
}

constexpr int kLowest = 2;
constexpr int kLargest = 3;
constexpr std::array kJoins{
    LateRule{"ReduceSum", write_reduce<0>},
    LateRule{"ReduceSumSquare", write_reduce<0>},
    LateRule{"ReduceL1", write_reduce<0>},
    LateRule{"ReduceL2", write_reduce<0>},
    LateRule{"ReduceLogSum", write_reduce<0>},
    LateRule{"ReduceProd", write_reduce<1>},
    LateRule{"ReduceMax", write_reduce<kLowest>},
    LateRule{"ReduceLogSumExp", write_reduce<kLowest>},
    LateRule{"ReduceMin", write_reduce<kLargest>},
    LateRule{"ArgMax", write_first<kLowest>},
    LateRule{"ArgMin", write_first<kLargest>},
    LateRule{"ReduceMean", write_mean},
    LateRule{"Softmax", write_softmax},
    LateRule{"LogSoftmax", write_softmax},
    LateRule{"CumSum", write_cumulative},
    LateRule{"CumProd", write_cumulative},
    LateRule{"MatMul", write_mat_mul},
    LateRule{"Gemm", write_gemm},
};

}  // namespace

std::span<const LateRule> late_joins() { return kJoins; }

}  // namespace morton::passes
