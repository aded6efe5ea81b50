// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/attending.hpp"

#include <limits>

#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// Writes attention; `group` heads of queries share one of keys.
class AttentionWriter {
 public:
  AttentionWriter(GraphWriter& writer, const Attending& attending)
      : writer_(writer), attending_(attending), query_(writer.shape_of(attending.query)) {
    const std::int64_t heads = writer.shape_of(attending.key)[1];
    group_ = heads == 0 ? 1 : query_[1] / heads;
  }

  Attended write(ScoresAsked asked) {
    Attended all;
    const TensorId rows = joined(attending_.query);
    const TensorId turned = writer_.transposed(attending_.key, {0, 1, 3, 2});
    TensorId scores = writer_.scaled(writer_.add("MatMul", {rows, turned}), attending_.scale);
    if (asked == ScoresAsked::plain) all.scores = apart(scores);
    scores = capped(scores);
    if (asked == ScoresAsked::capped) all.capped = apart(scores);
    const ScoreBias bias = score_bias(writer_, attending_.seen);
    const TensorId alive = grouped(bias.alive);
    if (bias.value != kNoTensor) scores = writer_.add("Add", {scores, grouped(bias.value)});
    if (asked == ScoresAsked::biased) all.biased = apart(without_dead(scores, alive, kNever));
    TensorId shares = writer_.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    if (asked == ScoresAsked::shares) {
      shares = without_dead(shares, alive, 0.0);
      all.shares = apart(shares);
    }
    const TensorId result = writer_.add("MatMul", {shares, attending_.value});
    all.result = apart(without_dead(result, alive, 0.0));
    return all;
  }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  /// The heads that share keys become rows of one matrix; and back.
  TensorId joined(TensorId value) {
    Shape shape = writer_.shape_of(value);
    shape[1] /= group_;
    shape[2] *= group_;
    return writer_.reshaped(value, shape);
  }
  TensorId apart(TensorId value) {
    Shape shape = writer_.shape_of(value);
    shape[1] *= group_;
    shape[2] /= group_;
    return writer_.reshaped(value, shape);
  }
  /// Of what broadcasts against the scores with heads apart.
  TensorId grouped(TensorId value) {
    if (value == kNoTensor || group_ == 1) return value;
    Shape shape = writer_.shape_of(value);
    while (shape.size() < 4) shape.insert(shape.begin(), 1);
    const bool is_of_heads = shape[1] != 1;
    const bool is_of_rows = shape[2] != 1 || is_of_heads;
    if (!is_of_rows) return writer_.reshaped(value, shape);
    const std::int64_t heads = is_of_heads ? shape[1] / group_ : 1;
    const std::int64_t members = is_of_heads ? group_ : 1;
    const TensorId five = writer_.reshaped(value, {shape[0], heads, members, shape[2], shape[3]});
    const TensorId whole = writer_.expanded(five, {shape[0], heads, group_, query_[2], shape[3]});
    return writer_.reshaped(whole, {shape[0], heads, group_ * query_[2], shape[3]});
  }

  TensorId capped(TensorId scores) {
    if (attending_.softcap == 0.0) return scores;
    const ScalarRef cap = ScalarRef::constant(attending_.softcap);
    Chain chain;
    const ScalarRef share = chain.append(ScalarOp::div, {ScalarRef::input(0), cap});
    const ScalarRef curve = chain.append(ScalarOp::tanh, {share});
    chain.append(ScalarOp::mul, {curve, cap});
    return writer_.chain(chain, {scores});
  }
  /// `other` in the rows of queries that see no key.
  TensorId without_dead(TensorId value, TensorId alive, double other) {
    if (alive == kNoTensor) return value;
    return writer_.add("Where", {alive, value, writer_.scalar(DType::f32, other)});
  }

  GraphWriter& writer_;
  const Attending& attending_;
  Shape query_;
  std::int64_t group_ = 1;
};

}  // namespace

Attended attended(GraphWriter& writer, const Attending& attending, ScoresAsked asked) {
  return AttentionWriter(writer, attending).write(asked);
}

TensorId heads_apart(GraphWriter& writer, TensorId value, std::int64_t heads) {
  const Shape shape = writer.shape_of(value);
  const TensorId split = writer.reshaped(value, {shape[0], shape[1], heads, shape[2] / heads});
  return writer.transposed(split, {0, 2, 1, 3});
}

TensorId heads_joined(GraphWriter& writer, TensorId value) {
  const Shape shape = writer.shape_of(value);
  return writer.reshaped(writer.transposed(value, {0, 2, 1, 3}),
                         {shape[0], shape[2], shape[1] * shape[3]});
}

}  // namespace morton::ops
