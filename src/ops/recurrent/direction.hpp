// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/recurrent/cell.hpp"

namespace morton::ops {

/// The inputs of RNN, GRU and LSTM by their place. GRU and RNN end with the initial state.
enum RecurrentPlace : std::size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

/// An RNN, GRU or LSTM node, read.
struct Recurrence {
  Cell cell;  ///< without activations, which each direction has of its own
  std::int64_t steps = 0, batch = 0, inputs = 0, units = 0, directions = 1;
  bool batch_first = false;  ///< layout
  bool is_reverse = false;   ///< the first direction
};

/// One direction, written out: as one RecurrentSequence where its cell has the standard functions
/// and nothing more, else step by step.
class Direction {
 public:
  /// Throws ModelError for the activations of direction `d`.
  Direction(Expansion& out, const Recurrence& recurrence, std::int64_t d);

  /// `x` is T x N x I; `present` T x N x 1, 1 where a sequence has the step, or none. Throws
  /// UnsupportedError for more steps than are written out one by one.
  void write(TensorId x, TensorId present);

  /// T x 1 x N x H.
  [[nodiscard]] TensorId all() const { return all_; }
  /// 1 x N x H each.
  [[nodiscard]] TensorId last_h() const { return last_.h; }
  [[nodiscard]] TensorId last_c() const { return last_.c; }

 private:
  void write_at_once(std::string_view cell, TensorId x, TensorId present);
  void write_steps(TensorId x, TensorId present);
  /// The cell's name as a RecurrentSequence, or nothing.
  [[nodiscard]] std::string_view sequence_cell() const;
  [[nodiscard]] bool is_reverse() const { return made_.is_reverse || d_ == 1; }
  /// This direction's part of input `place`, of `shape`.
  [[nodiscard]] TensorId own(RecurrentPlace place, std::size_t axis, const Shape& shape);
  [[nodiscard]] TensorId initial(RecurrentPlace place);
  [[nodiscard]] CellWeights shared_weights();
  [[nodiscard]] TensorId input_sums(TensorId x);
  [[nodiscard]] TensorId without_inner(TensorId both, TensorId bias);

  Expansion& out_;
  const Recurrence& made_;
  std::int64_t d_ = 0;
  Cell cell_;
  TensorId all_ = kNoTensor;
  CellState last_;
};

}  // namespace morton::ops
