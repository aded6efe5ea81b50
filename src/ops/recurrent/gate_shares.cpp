// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/gate_shares.hpp"

#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

using Structure = problems::RecurrenceStructure;

class SharesReader : public StepTerms {
 public:
  SharesReader(Gradient& gradient, const RecurrentSequence& made)
      : StepTerms(gradient, made), cell_(made.structure.cell), rows_(made.steps * made.sequences) {}

  [[nodiscard]] GateShares read() {
    read_states();
    read_shares();
    return shares_;
  }

 private:
  /// The slopes of the functions, by their values: s * (1 - s) and 1 - t * t.
  TensorId slope_of_sigmoid(TensorId value) { return mul(value, rest(value)); }
  TensorId slope_of_tanh(TensorId value) { return rest(mul(value, value)); }
  TensorId tanh_of(TensorId value) { return out_.apply(ScalarOp::tanh, {value}); }

  /// Part `s` of the node's result, T x N x H.
  TensorId states(std::int64_t s) {
    return out_.reshaped(part_along(out_, out_.node().output_id(), 0, s, s + 1),
                         {made_.steps, made_.sequences, made_.units});
  }

  /// What each step found, T x N x H.
  TensorId before(std::int64_t part) {
    const TensorId first = part_along(out_, out_.node().input_id(kFirst), 0, part, part + 1);
    if (made_.steps == 1) return first;
    const TensorId all = states(part);
    if (made_.structure.from == Structure::From::back) {
      return joined_along(out_, {part_along(out_, all, 0, 1, made_.steps), first}, 0);
    }
    return joined_along(out_, {first, part_along(out_, all, 0, 0, made_.steps - 1)}, 0);
  }

  /// What states add to the sums of these gates, T x N x gates x H.
  TensorId own_sums(TensorId state, std::int64_t from, std::int64_t to) {
    const TensorId bias =
        out_.reshaped(part_along(out_, out_.node().input_id(kGateBias), 0, from, to),
                      {(to - from) * made_.units});
    const TensorId rows = out_.reshaped(state, {rows_, made_.units});
    return out_.reshaped(product(rows, weights(from, to), false, true, bias),
                         {made_.steps, made_.sequences, to - from, made_.units});
  }

  void read_states() {
    shares_.h_before = before(0);
    own_ = own_sums(shares_.h_before, 0, cell_ == SequenceCell::gru ? 2 : made_.gates);
    if (cell_ == SequenceCell::gru) {
      shares_.through = states(1);
      own_ = joined_along(out_, {own_, own_sums(shares_.through, 2, 3)}, 2);
    }
  }

  /// The sum of a gate that the state has, or the whole one, T x N x H.
  TensorId gate(TensorId gates, std::int64_t g) {
    return out_.reshaped(part_along(out_, gates, 2, g, g + 1),
                         {made_.steps, made_.sequences, made_.units});
  }
  TensorId sigmoid_of_gate(TensorId sums, std::int64_t g) {
    return out_.add("Sigmoid", {gate(sums, g)});
  }

  /// 1 where sequence n has step t, T x N x 1; none where all have all.
  TensorId present() {
    const NodeView& node = out_.node();
    if (const Tensor* lengths = node.constant(kSequenceLengths)) {
      bool has_all = true;
      for (std::int64_t n = 0; n < lengths->size(); ++n) {
        has_all = has_all && lengths->at(n) >= static_cast<double>(made_.steps);
      }
      if (has_all) return kNoTensor;
    }
    return present_steps(out_, node.input_id(kSequenceLengths), made_.steps,
                         out_.type_of(node.input_id(kSums)));
  }

  /// Gates side by side, T x N x G x H.
  TensorId stacked(const std::vector<TensorId>& gates) {
    std::vector<TensorId> parts;
    for (const TensorId gate : gates) {
      parts.push_back(out_.reshaped(gate, {made_.steps, made_.sequences, 1, made_.units}));
    }
    return joined_along(out_, parts, 2);
  }

  void read_shares() {
    const TensorId sums = add(own_, out_.node().input_id(kSums));
    switch (cell_) {
      case SequenceCell::tanh:
        shares_.of_h = stacked({slope_of_tanh(states(0))});
        break;
      case SequenceCell::relu:
        shares_.of_h = out_.add("Sign", {stacked({states(0)})});
        break;
      case SequenceCell::gru:
      case SequenceCell::gru_behind:
        read_gru(sums);
        break;
      case SequenceCell::lstm:
        read_lstm(sums);
        break;
    }
    if (const TensorId there = present(); there != kNoTensor) leave_out(there);
  }

  void read_gru(TensorId sums) {
    const bool behind = cell_ == SequenceCell::gru_behind;
    const TensorId update = sigmoid_of_gate(sums, 0);
    const TensorId reset = sigmoid_of_gate(sums, 1);
    const TensorId hidden_sum =
        behind ? add(gate(out_.node().input_id(kSums), 2), mul(reset, gate(own_, 2)))
               : gate(sums, 2);
    const TensorId hidden = tanh_of(hidden_sum);
    const TensorId to_hidden = mul(rest(update), slope_of_tanh(hidden));
    const TensorId to_update =
        mul(out_.apply(ScalarOp::sub, {shares_.h_before, hidden}), slope_of_sigmoid(update));
    // Of `gru` what comes back to the state that is let through, times this.
    TensorId to_reset = mul(shares_.h_before, slope_of_sigmoid(reset));
    if (behind) to_reset = mul(mul(to_hidden, gate(own_, 2)), slope_of_sigmoid(reset));
    shares_.of_h = stacked({to_update, to_reset, behind ? mul(to_hidden, reset) : to_hidden});
    if (behind) shares_.of_h_to_x = stacked({to_update, to_reset, to_hidden});
    shares_.kept_h = update;
    if (!behind) shares_.let_through = reset;
  }

  void read_lstm(TensorId sums) {
    const TensorId taken = sigmoid_of_gate(sums, 0);
    const TensorId shown = sigmoid_of_gate(sums, 1);
    const TensorId kept = sigmoid_of_gate(sums, 2);
    const TensorId input = tanh_of(gate(sums, 3));
    const TensorId bent = tanh_of(states(1));
    const TensorId none = out_.expanded(out_.scalar(out_.type_of(bent), 0.0), out_.shape_of(bent));
    shares_.of_h = stacked({none, mul(bent, slope_of_sigmoid(shown)), none, none});
    shares_.of_c =
        stacked({mul(input, slope_of_sigmoid(taken)), none, mul(before(1), slope_of_sigmoid(kept)),
                 mul(taken, slope_of_tanh(input))});
    shares_.of_h_to_c = mul(shown, slope_of_tanh(bent));
    shares_.kept_c = kept;
  }

  /// Steps that a sequence has not: the gates get nothing, the state everything.
  void leave_out(TensorId there) {
    const TensorId over_gates = out_.reshaped(there, {made_.steps, made_.sequences, 1, 1});
    // Chosen, not multiplied: behind a sequence's end there may be no number.
    const auto masked = [&](TensorId& share, TensorId mask) {
      if (share != kNoTensor) share = chosen(out_, mask, share);
    };
    masked(shares_.of_h, over_gates);
    masked(shares_.of_c, over_gates);
    masked(shares_.of_h_to_x, over_gates);
    masked(shares_.of_h_to_c, there);
    const TensorId gone = rest(there);
    const auto kept = [&](TensorId& share) {
      if (share != kNoTensor) share = chosen(out_, there, share, gone);
    };
    kept(shares_.kept_c);
    kept(shares_.let_through);
    if (shares_.kept_h == kNoTensor) {
      shares_.kept_h = out_.expanded(gone, {made_.steps, made_.sequences, made_.units});
    } else {
      kept(shares_.kept_h);
    }
  }

  SequenceCell cell_;
  std::int64_t rows_ = 0;     ///< T * N
  TensorId own_ = kNoTensor;  ///< what states add to the sums, T x N x G x H
  GateShares shares_;
};

}  // namespace

TensorId StepTerms::add(TensorId a, TensorId b) {
  if (a == kNoTensor || b == kNoTensor) return a == kNoTensor ? b : a;
  return out_.apply(ScalarOp::add, {a, b});
}

TensorId StepTerms::rest(TensorId a) {
  Chain chain;
  chain.append(ScalarOp::sub, {ScalarRef::constant(1.0), ScalarRef::input(0)});
  return out_.chain(chain, {a});
}

TensorId StepTerms::product(TensorId a, TensorId b, bool a_transposed, bool b_transposed,
                            TensorId bias) {
  std::vector<TensorId> operands{a, b};
  if (bias != kNoTensor) operands.push_back(bias);
  return out_.add("Gemm", operands,
                  {{"transA", std::int64_t{a_transposed}}, {"transB", std::int64_t{b_transposed}}});
}

TensorId StepTerms::weights(std::int64_t from, std::int64_t to) {
  return out_.reshaped(part_along(out_, out_.node().input_id(kWeights), 0, from, to),
                       {(to - from) * made_.units, made_.units});
}

GateShares gate_shares(Gradient& gradient, const RecurrentSequence& made) {
  return SharesReader(gradient, made).read();
}

}  // namespace morton::ops
