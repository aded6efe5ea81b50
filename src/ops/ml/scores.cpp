// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/scores.hpp"

#include <numbers>
#include <numeric>

#include "base/algebra/typed_chain.hpp"

namespace morton::ops {
namespace {

/// Scores nearer to 0 stay apart from a softmax that leaves zeros out.
constexpr double kScoreOfZero = 1e-7;

/// sqrt(2) times the inverse of erf at 2 x - 1, by Winitzki's formula with the constants that ONNX
/// Runtime has.
Chain probit_chain() {
  Chain chain;
  const auto number = [](double value) { return ScalarRef::constant(value); };
  const ScalarRef twice = chain.append(ScalarOp::mul, {number(2.0), ScalarRef::input(0)});
  const ScalarRef x = chain.append(ScalarOp::sub, {twice, number(1.0)});
  const ScalarRef below = chain.append(ScalarOp::sub, {number(1.0), x});
  const ScalarRef above = chain.append(ScalarOp::add, {number(1.0), x});
  const ScalarRef rest = chain.append(ScalarOp::mul, {below, above});
  const ScalarRef log = chain.append(ScalarOp::log, {rest});
  const ScalarRef half = chain.append(ScalarOp::mul, {number(0.5), log});
  const ScalarRef v = chain.append(ScalarOp::add, {number(2.0 / (3.14159 * 0.147)), half});
  const ScalarRef v2 = chain.append(ScalarOp::mul, {number(1.0 / 0.147), log});
  const ScalarRef square = chain.append(ScalarOp::mul, {v, v});
  const ScalarRef inner = chain.append(ScalarOp::sub, {square, v2});
  const ScalarRef root = chain.append(ScalarOp::sqrt, {inner});
  const ScalarRef outer = chain.append(ScalarOp::sub, {root, v});
  const ScalarRef size = chain.append(ScalarOp::sqrt, {outer});
  const ScalarRef negative = chain.append(ScalarOp::less, {x, number(0.0)});
  const ScalarRef minus = chain.append(ScalarOp::neg, {size});
  const ScalarRef value = chain.append(ScalarOp::select, {negative, minus, size});
  chain.append(ScalarOp::mul, {number(std::numbers::sqrt2), value});
  return chain;
}

/// exp(x - greatest), and x * exp(-greatest) of scores near 0; inputs x and greatest.
Chain exponential_without_zeros() {
  Chain chain;
  chain.input_count = 2;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef size = chain.append(ScalarOp::abs, {x});
  const ScalarRef counts = chain.append(ScalarOp::less, {ScalarRef::constant(kScoreOfZero), size});
  const ScalarRef away = chain.append(ScalarOp::sub, {x, ScalarRef::input(1)});
  const ScalarRef power = chain.append(ScalarOp::exp, {away});
  const ScalarRef minus = chain.append(ScalarOp::neg, {ScalarRef::input(1)});
  const ScalarRef shrink = chain.append(ScalarOp::exp, {minus});
  const ScalarRef zero = chain.append(ScalarOp::mul, {x, shrink});
  chain.append(ScalarOp::select, {counts, power, zero});
  return chain;
}

}  // namespace

PostTransform post_transform_of(const NodeView& node) {
  const auto found = node.node().attributes.find("post_transform");
  if (found != node.node().attributes.end() &&
      std::holds_alternative<std::int64_t>(found->second)) {
    const std::int64_t number = std::get<std::int64_t>(found->second);
    if (number < 0 || number > static_cast<std::int64_t>(PostTransform::probit)) {
      node.fail("'post_transform' is " + std::to_string(number) + ", expected 0 to 4");
    }
    return static_cast<PostTransform>(number);
  }
  return static_cast<PostTransform>(choice_of(
      node, "post_transform", "NONE", {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
}

TensorId transformed(Expansion& expansion, PostTransform transform, TensorId scores) {
  // As ONNX Runtime has it: one score alone is transformed by PROBIT only.
  const bool is_single = expansion.shape_of(scores)[1] == 1;
  if (is_single && transform != PostTransform::probit) return scores;
  switch (transform) {
    case PostTransform::none:
      return scores;
    case PostTransform::softmax:
      return expansion.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    case PostTransform::logistic:
      return expansion.add("Sigmoid", {scores});
    case PostTransform::probit:
      return expansion.chain(probit_chain(), {scores});
    case PostTransform::softmax_zero: {
      const TensorId greatest = expansion.add("ReduceMax", {scores, expansion.list({-1})},
                                              {{"keepdims", std::int64_t{1}}});
      const TensorId powers = expansion.chain(exponential_without_zeros(), {scores, greatest});
      return expansion.add("Div", {powers, expansion.sum(powers, {1})});
    }
  }
  return scores;
}

TensorId rows_as(Expansion& expansion, DType type, RowRank rank) {
  const Rows rows = rows_of(expansion.node(), rank);
  TensorId value = expansion.input(0);
  if (expansion.type_of(value) != type) {
    value = expansion.add("CastLike", {value, expansion.scalar(type, 0.0)});
  }
  const Shape shape{rows.rows, rows.features};
  return expansion.shape_of(value) == shape ? value : expansion.reshaped(value, shape);
}

TensorId reals_constant(Expansion& expansion, DType type, const Shape& shape,
                        const std::vector<double>& values) {
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.set(static_cast<std::int64_t>(i), values[i]);
  }
  return expansion.constant(std::move(tensor));
}

TensorId joined(Expansion& expansion, const std::vector<TensorId>& columns) {
  if (columns.size() == 1) return columns.front();
  return expansion.add("Concat", columns, {{"axis", std::int64_t{1}}});
}

TensorId two_scores(Expansion& expansion, TensorId score, PostTransform transform, double whole) {
  if (transform == PostTransform::logistic) {
    score = expansion.add("Sigmoid", {score});
    whole = 1.0;
  }
  const TensorId other =
      expansion.add("Sub", {expansion.scalar(expansion.type_of(score), whole), score});
  const TensorId both = joined(expansion, {other, score});
  return transform == PostTransform::probit ? transformed(expansion, transform, both) : both;
}

ClassLabels::ClassLabels(const NodeView& node, std::string_view integers) {
  const std::vector<std::string> texts = texts_of(node, "classlabels_strings");
  const NumberList numbers(node, integers);
  if (texts.empty() == numbers.empty()) {
    node.fail("it needs either 'classlabels_strings' or '" + std::string(integers) + "', not " +
              (texts.empty() ? "none" : "both"));
  }
  labels_.resize(texts.size());
  std::iota(labels_.begin(), labels_.end(), std::int64_t{0});
  for (std::int64_t i = 0; i < numbers.size(); ++i) labels_.push_back(numbers.whole(i));
}

TensorId ClassLabels::of_places(Expansion& expansion, TensorId places) const {
  std::vector<std::int64_t> same(labels_.size());
  std::iota(same.begin(), same.end(), std::int64_t{0});
  if (labels_ == same) return places;
  return expansion.add("Gather", {expansion.list(labels_), places});
}

TensorId ClassLabels::of_greatest(Expansion& expansion, TensorId scores) const {
  return of_places(expansion,
                   expansion.add("ArgMax", {scores},
                                 {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}));
}

TensorId ClassLabels::of_two(Expansion& expansion, TensorId score, double threshold) const {
  Chain chain;
  const ScalarRef above =
      chain.append(ScalarOp::less, {ScalarRef::constant(threshold), ScalarRef::input(0)});
  chain.append_conversion(ScalarOp::cast, above, DType::i64);
  const TensorId place = expansion.chain(chain, {score});
  return of_places(expansion, expansion.reshaped(place, {expansion.shape_of(score)[0]}));
}

}  // namespace morton::ops
