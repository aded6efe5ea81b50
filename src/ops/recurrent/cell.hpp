// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// What a cell of RNN, GRU or LSTM applies to its sums: one of ONNX's eleven functions.
struct CellActivation {
  std::string name;    ///< in lower case
  double alpha = 0.0;  ///< of those that have it
  double beta = 0.0;
};

/// One direction of a recurrent node.
struct Cell {
  enum class Kind : std::uint8_t { rnn, gru, lstm } kind = Kind::rnn;
  std::vector<CellActivation> activations;  ///< f; of a GRU f, g; of an LSTM f, g, h
  std::optional<double> clip;               ///< of what the activations are applied to
  bool input_forget = false;                ///< of an LSTM: the forget gate is 1 - the input gate
  bool resets_behind = false;               ///< of a GRU: linear_before_reset
  /// Sums of the input for each gate: 1, 3 or 4, in ONNX's order.
  [[nodiscard]] std::int64_t gates() const;
  [[nodiscard]] std::size_t activation_count() const;
};

/// The states of one step: h, and of an LSTM c; N x H each.
struct CellState {
  TensorId h = kNoTensor;
  TensorId c = kNoTensor;
};

/// What the steps of a direction share.
struct CellWeights {
  TensorId recurrent = kNoTensor;  ///< gates x H x H, the previous state's units first
  TensorId inner = kNoTensor;      ///< bias of a GRU's reset sum, H; none without one
  /// Of an LSTM's input, output and forget gate, H each; none without peepholes.
  std::array<TensorId, 3> peepholes{kNoTensor, kNoTensor, kNoTensor};
};

/// The activations of direction `d` by the node's attributes. Throws ModelError.
[[nodiscard]] std::vector<CellActivation> cell_activations(const NodeView& node, const Cell& cell,
                                                           std::size_t d);

/// Writes one step. `input` has the sums of the step's input, gates x N x H.
[[nodiscard]] CellState cell_step(GraphWriter& out, const Cell& cell, const CellWeights& weights,
                                  TensorId input, const CellState& before);

}  // namespace morton::ops
