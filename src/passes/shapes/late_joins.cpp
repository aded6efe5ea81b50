// SPDX-License-Identifier: Apache-2.0
//
// Operators that join the elements along a late extent: what is void becomes what changes nothing.
#include <array>
#include <limits>

#include "ops/core/expansion.hpp"
#include "ops/core/node_view.hpp"
#include "ops/math/reduction.hpp"
#include "passes/shapes/late_extents.hpp"

namespace morton::passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What changes nothing where elements are joined.
enum class Neutral : std::uint8_t { zero, one, lowest, largest };

double value_of(Neutral neutral) {
  switch (neutral) {
    case Neutral::zero:
      return 0.0;
    case Neutral::one:
      return 1.0;
    case Neutral::lowest:
      return -kInfinity;
    case Neutral::largest:
      return kInfinity;
  }
  return 0.0;
}

/// Input 0 without void along `axes`; the input itself where none of them is late.
TensorId masked_along(LateTable& table, const Node& node, const std::vector<std::size_t>& axes,
                      Neutral neutral) {
  TensorId id = node.inputs[0];
  for (const std::size_t axis : axes) id = table.masked(id, axis, value_of(neutral));
  return id;
}

bool write_reduced(LateTable& table, const Node& node, const std::vector<std::size_t>& axes,
                   Neutral neutral) {
  const TensorId masked = masked_along(table, node, axes, neutral);
  if (masked == node.inputs[0]) return false;
  table.out().again(node, {masked});
  return true;
}

template <Neutral kNeutral>
bool write_reduce(LateTable& table, const Node& node) {
  return write_reduced(table, node, reduced_axes(NodeView(table.graph(), node)), kNeutral);
}

template <Neutral kNeutral>
bool write_first(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const std::size_t axis = view.axis_attribute();
  // The first of equals lies before all void; the last may be void.
  if (table.count(node.inputs[0], axis) != kNoTensor && view.flag("select_last_index", 0)) {
    table.refuse(node, "select_last_index along an extent that follows from data");
  }
  return write_reduced(table, node, {axis}, kNeutral);
}

/// The sum of what is there over how much there is.
bool write_mean(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  const TensorId input = node.inputs[0];
  const auto axes = reduced_axes(view);
  TensorId id = masked_along(table, node, axes, Neutral::zero);
  if (id == input) return false;
  // The sum of halves may be beyond their range.
  const bool is_short = is_short_real(view.input(0).dtype);
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
  const TensorId masked = masked_along(table, node, axes, Neutral::lowest);
  if (masked == node.inputs[0]) return false;
  table.out().again(node, {table.whole(masked)});
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
  table.out().again(node,
                    {table.whole(table.masked(input, axis, node.op == "CumProd" ? 1.0 : 0.0))});
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
  table.out().again(node, {table.masked(lhs, of_lhs, 0.0), table.masked(rhs, of_rhs, 0.0)});
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

constexpr std::array kJoins{
    LateRule{"ReduceSum", write_reduce<Neutral::zero>},
    LateRule{"ReduceSumSquare", write_reduce<Neutral::zero>},
    LateRule{"ReduceL1", write_reduce<Neutral::zero>},
    LateRule{"ReduceL2", write_reduce<Neutral::zero>},
    LateRule{"ReduceLogSum", write_reduce<Neutral::zero>},
    LateRule{"ReduceProd", write_reduce<Neutral::one>},
    LateRule{"ReduceMax", write_reduce<Neutral::lowest>},
    LateRule{"ReduceLogSumExp", write_reduce<Neutral::lowest>},
    LateRule{"ReduceMin", write_reduce<Neutral::largest>},
    LateRule{"ArgMax", write_first<Neutral::lowest>},
    LateRule{"ArgMin", write_first<Neutral::largest>},
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
