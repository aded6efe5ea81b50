// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/recurrent/sequence_node.hpp"

namespace morton::ops {

/// Arithmetic on the tensors of a RecurrentSequence's gradient; kNoTensor is nothing to add.
class StepTerms {
 public:
  StepTerms(Gradient& gradient, const RecurrentSequence& made) : out_(gradient), made_(made) {}

  [[nodiscard]] TensorId mul(TensorId a, TensorId b) { return out_.apply(ScalarOp::mul, {a, b}); }
  [[nodiscard]] TensorId add(TensorId a, TensorId b);
  /// 1 - a.
  [[nodiscard]] TensorId rest(TensorId a);
  [[nodiscard]] TensorId product(TensorId a, TensorId b, bool a_transposed, bool b_transposed,
                                 TensorId bias = kNoTensor);
  /// The weights of gates `from` to before `to`: a row for each unit of each.
  [[nodiscard]] TensorId weights(std::int64_t from, std::int64_t to);

 protected:
  Gradient& out_;
  const RecurrentSequence& made_;
};

/// What each step passes on, T x N x H or T x N x G x H; none where it is nothing. Of steps that a
/// sequence has not the gates get nothing, the state before everything.
struct GateShares {
  TensorId of_h = kNoTensor;         ///< to the states' sums, times what comes back to h
  TensorId of_c = kNoTensor;         ///< of an LSTM: the same, times what comes back to c
  TensorId of_h_to_c = kNoTensor;    ///< of an LSTM
  TensorId of_h_to_x = kNoTensor;    ///< to the input's sums, where they differ
  TensorId kept_h = kNoTensor;       ///< past the gates to the state before
  TensorId kept_c = kNoTensor;       ///< of an LSTM
  TensorId let_through = kNoTensor;  ///< of `gru`: the reset gate

  TensorId h_before = kNoTensor;  ///< the states that each step found, T x N x H
  TensorId through = kNoTensor;   ///< of `gru`: what the reset gate let through of them
};

/// Computed for all steps at once, from the states that the node gave.
[[nodiscard]] GateShares gate_shares(Gradient& gradient, const RecurrentSequence& made);

}  // namespace morton::ops
