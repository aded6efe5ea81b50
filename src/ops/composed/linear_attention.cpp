// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/shape.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// Each step is several nodes, so that a long sequence would make a huge graph.
constexpr std::int64_t kMostSteps = 256;

/// Inputs of LinearAttention.
enum LinearInput : std::size_t { kAsked, kKeys, kValues, kState, kDecay, kRate };

/// A recurrence over a state [batch, heads, length of keys, length of values].
class Recurrence {
 public:
  explicit Recurrence(Expansion& out) : out_(out), node_(out.node()) {
    check();
    const Shape asked = node_.input(kAsked).shape;
    heads_ = node_.integer("kv_num_heads", 0);
    group_ = node_.integer("q_num_heads", 0) / heads_;
    batch_ = asked[0];
    steps_ = asked[1];
    length_ = asked[2] / (heads_ * group_);
    width_ = node_.input(kValues).shape[2] / heads_;
  }

  std::vector<TensorId> write() {
    check_state();
    const Shape state_shape{batch_, heads_, length_, width_};
    Tensor zeros = Tensor::allocate(DType::f32, {});
    TensorId state = node_.has_input(kState)
                         ? widened(out_, out_.input(kState))
                         : out_.expanded(out_.constant(std::move(zeros)), state_shape);
    std::vector<TensorId> results;
    for (std::int64_t t = 0; t < steps_; ++t) {
      state = next(state, t);
      const TensorId asked = at(kAsked, t, {batch_, heads_, group_, length_});
      const TensorId result = out_.scaled(out_.add("MatMul", {asked, state}), scale());
      results.push_back(out_.reshaped(result, {batch_, 1, heads_ * group_ * width_}));
    }
    const TensorId all =
        results.size() == 1 ? results[0] : out_.add("Concat", results, {{"axis", std::int64_t{1}}});
    const DType state_type = node_.input(node_.has_input(kState) ? kState : kAsked).dtype;
    return {out_.converted(all, node_.input(kAsked).dtype), out_.converted(state, state_type)};
  }

 private:
  void check() const {
    for (const std::size_t i : {kAsked, kKeys, kValues}) {
      require_real(node_, i);
      require_rank(node_, i, 3, "an operand");
    }
    const std::int64_t asking = node_.integer("q_num_heads", 0);
    const std::int64_t keys = node_.integer("kv_num_heads", 0);
    if (keys < 1 || asking < keys || asking % keys != 0) {
      node_.fail("has q_num_heads " + std::to_string(asking) + " and kv_num_heads " +
                 std::to_string(keys) + "; the second must divide the first");
    }
    const Shape asked = node_.input(kAsked).shape;
    const Shape values = node_.input(kValues).shape;
    if (asked[2] % asking != 0 || values[2] % keys != 0) {
      node_.fail("its heads do not divide its queries, " + to_string(asked) + ", or its values, " +
                 to_string(values));
    }
    require_shape(node_, kKeys, {asked[0], asked[1], asked[2] / asking * keys}, "the keys");
    require_shape(node_, kValues, {asked[0], asked[1], values[2]}, "the values");
    if (asked[1] < 1 || asked[1] > kMostSteps) {
      node_.unsupported("has " + std::to_string(asked[1]) + " steps; 1 to " +
                        std::to_string(kMostSteps) + " are supported");
    }
    constexpr std::array<std::string_view, 4> kRules{"linear", "gated", "delta", "gated_delta"};
    const std::string rule = this->rule();
    if (std::find(kRules.begin(), kRules.end(), rule) == kRules.end()) {
      node_.fail("update_rule is '" + rule + "', expected linear, gated, delta or gated_delta");
    }
    if (decays() && !node_.has_input(kDecay)) node_.fail("its decay (input 4) is missing");
    if (corrects() && !node_.has_input(kRate)) node_.fail("its beta (input 5) is missing");
  }

  void check_state() const {
    require_shape(node_, kState, {batch_, heads_, length_, width_}, "past_state");
    const auto require_columns = [&](std::size_t i, std::int64_t many, std::int64_t few) {
      if (!node_.has_input(i)) return;
      const bool is_many = node_.input(i).shape == Shape{batch_, steps_, many};
      require_shape(node_, i, {batch_, steps_, is_many ? many : few},
                    i == kDecay ? "decay" : "beta");
    };
    require_columns(kDecay, heads_ * length_, heads_);
    require_columns(kRate, heads_, 1);
  }

  [[nodiscard]] std::string rule() const { return node_.text("update_rule", "gated_delta"); }
  [[nodiscard]] bool decays() const { return rule() == "gated" || rule() == "gated_delta"; }
  [[nodiscard]] bool corrects() const { return rule() == "delta" || rule() == "gated_delta"; }
  [[nodiscard]] double scale() const {
    const double given = node_.real("scale", 0.0);
    return given != 0.0 ? given : 1.0 / std::sqrt(static_cast<double>(length_));
  }

  /// Input `i` at step `t`, in another shape.
  TensorId at(std::size_t i, std::int64_t t, const Shape& shape) {
    const TensorId all = widened(out_, out_.input(i));
    return out_.reshaped(part_along(out_, all, 1, t, t + 1), shape);
  }

  TensorId next(TensorId state, std::int64_t t) {
    if (decays()) {
      const std::int64_t rows = node_.input(kDecay).shape[2] / heads_;
      const TensorId decay = at(kDecay, t, {batch_, heads_, rows, 1});
      state = out_.add("Mul", {state, out_.add("Exp", {decay})});
    }
    const TensorId key = at(kKeys, t, {batch_, heads_, length_, 1});
    TensorId value = at(kValues, t, {batch_, heads_, 1, width_});
    if (corrects()) {
      const TensorId row = at(kKeys, t, {batch_, heads_, 1, length_});
      const TensorId known = out_.add("MatMul", {row, state});
      const std::int64_t rates = node_.input(kRate).shape[2];
      const TensorId rate = at(kRate, t, {batch_, rates, 1, 1});
      value = out_.add("Mul", {out_.add("Sub", {value, known}), rate});
    }
    return out_.add("Add", {state, out_.add("Mul", {key, value})});
  }

  Expansion& out_;
  const NodeView& node_;
  std::int64_t batch_ = 0, steps_ = 0, heads_ = 1, group_ = 1, length_ = 0, width_ = 0;
};

std::vector<TensorId> expand_linear_attention(Expansion& out) { return Recurrence(out).write(); }

}  // namespace

const Operator& operator_LinearAttention() {
  static const Operator kOperator{
      .name = "LinearAttention",
      .inputs = {.least = 3, .most = 6},
      .attributes = {"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"},
      .since_opset = 27,
      .expand = expand_linear_attention,
  };
  return kOperator;
}

}  // namespace morton::ops
