// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent_gradient.hpp"

#include <algorithm>

#include "ops/composed/writing.hpp"
#include "ops/recurrent/gate_shares.hpp"

namespace morton::ops {
namespace {

using Structure = problems::RecurrenceStructure;

class BackThroughTime : public StepTerms {
 public:
  BackThroughTime(Gradient& gradient, const RecurrentSequence& made)
      : StepTerms(gradient, made),
        cell_(made.structure.cell),
        shares_(gate_shares(gradient, made)),
        used_(cell_ == SequenceCell::gru ? 2 : made.gates),
        weights_(weights(0, used_)),
        of_hidden_(cell_ == SequenceCell::gru ? weights(2, 3) : kNoTensor) {}

  void write() {
    for (std::int64_t i = 0; i < made_.steps; ++i) {
      step_back(made_.structure.from == Structure::From::back ? i : made_.steps - 1 - i);
    }
    give();
  }

 private:
  /// Step t of T x ... as one x ...; none of none.
  TensorId at_step(TensorId all, std::int64_t t, const Shape& shape) {
    return all == kNoTensor ? kNoTensor : out_.reshaped(part_along(out_, all, 0, t, t + 1), shape);
  }

  /// What comes back to part `s` of step t from outside, N x H.
  TensorId from_outside(std::int64_t s, std::int64_t t) {
    const TensorId part = part_along(out_, out_.of_output(), 0, s, s + 1);
    return out_.reshaped(part_along(out_, part, 1, t, t + 1), {made_.sequences, made_.units});
  }

  void step_back(std::int64_t t) {
    const Shape state{made_.sequences, made_.units};
    const Shape spread{made_.sequences, 1, made_.units};
    const Shape gates{made_.sequences, made_.gates, made_.units};
    const TensorId h = add(from_outside(0, t), to_h_);
    const TensorId of_h = at_step(shares_.of_h, t, gates);
    TensorId sums = mul(of_h, out_.reshaped(h, spread));
    if (cell_ == SequenceCell::lstm) {
      const TensorId c =
          add(add(from_outside(1, t), to_c_), mul(at_step(shares_.of_h_to_c, t, state), h));
      sums = add(sums, mul(at_step(shares_.of_c, t, gates), out_.reshaped(c, spread)));
      to_c_ = mul(at_step(shares_.kept_c, t, state), c);
    }
    TensorId kept = at_step(shares_.kept_h, t, state);
    if (kept != kNoTensor) kept = mul(kept, h);
    if (cell_ == SequenceCell::gru) {
      const TensorId hidden = out_.reshaped(part_along(out_, sums, 1, 2, 3), state);
      const TensorId through = add(from_outside(1, t), product(hidden, of_hidden_, false, false));
      const TensorId reset = mul(out_.reshaped(part_along(out_, of_h, 1, 1, 2), state), through);
      sums = joined_along(out_,
                          {part_along(out_, sums, 1, 0, 1), out_.reshaped(reset, spread),
                           part_along(out_, sums, 1, 2, 3)},
                          1);
      kept = add(kept, mul(at_step(shares_.let_through, t, state), through));
    }
    const TensorId rows =
        out_.reshaped(part_along(out_, sums, 1, 0, used_), {made_.sequences, used_ * made_.units});
    to_h_ = add(product(rows, weights_, false, false), kept);
    of_steps_.push_back(out_.reshaped(sums, {1, made_.sequences, made_.gates, made_.units}));
    h_of_steps_.push_back(out_.reshaped(h, {1, made_.sequences, 1, made_.units}));
  }

  /// T x ..., in the order of time.
  TensorId in_order(std::vector<TensorId> steps) {
    if (made_.structure.from == Structure::From::front) {
      std::ranges::reverse(steps);
    }
    return joined_along(out_, steps, 0);
  }

  void give() {
    const TensorId all = in_order(of_steps_);
    if (out_.wants(kSums)) {
      out_.give(kSums, shares_.of_h_to_x == kNoTensor
                           ? all
                           : mul(shares_.of_h_to_x, in_order(h_of_steps_)));
    }
    if (out_.wants(kGateBias)) {
      out_.give(kGateBias, out_.reshaped(out_.sum(all, {0, 1}), {made_.gates, made_.units}));
    }
    if (out_.wants(kFirst)) {
      const Shape part{1, made_.sequences, made_.units};
      std::vector<TensorId> parts{out_.reshaped(to_h_, part)};
      if (cell_ == SequenceCell::lstm) parts.push_back(out_.reshaped(to_c_, part));
      out_.give(kFirst, joined_along(out_, parts, 0));
    }
    if (out_.wants(kWeights)) give_weights(all);
  }

  void give_weights(TensorId all) {
    const std::int64_t rows = made_.steps * made_.sequences;
    const auto of_gates = [&](std::int64_t from, std::int64_t to, TensorId state) {
      const TensorId back =
          out_.reshaped(part_along(out_, all, 2, from, to), {rows, (to - from) * made_.units});
      const TensorId states = out_.reshaped(state, {rows, made_.units});
      return out_.reshaped(product(back, states, true, false),
                           {to - from, made_.units, made_.units});
    };
    if (cell_ == SequenceCell::gru) {
      out_.give(kWeights,
                joined_along(
                    out_, {of_gates(0, 2, shares_.h_before), of_gates(2, 3, shares_.through)}, 0));
    } else {
      out_.give(kWeights, of_gates(0, made_.gates, shares_.h_before));
    }
  }

  SequenceCell cell_;
  GateShares shares_;
  std::int64_t used_;               ///< gates whose sums the state enters as it is
  TensorId weights_;                ///< of these
  TensorId of_hidden_;              ///< of `gru`: of the gate that what is let through enters
  TensorId to_h_ = kNoTensor;       ///< comes back to the state before, N x H
  TensorId to_c_ = kNoTensor;       ///< of an LSTM
  std::vector<TensorId> of_steps_;  ///< comes back to the gates' sums, 1 x N x G x H each
  std::vector<TensorId> h_of_steps_;
};

}  // namespace

void gradient_of_recurrent_sequence(Gradient& gradient) {
  const RecurrentSequence made = recurrent_sequence_of(gradient.node());
  if (made.steps > kMostSteps) {
    gradient.node().unsupported("sequences of " + std::to_string(made.steps) +
                                " steps; to train, at most " + std::to_string(kMostSteps) +
                                " are supported");
  }
  BackThroughTime(gradient, made).write();
}

}  // namespace morton::ops
