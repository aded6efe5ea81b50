// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// recurrence: the states of T steps of N sequences, each step's from those of the step before.
///
///   sums[T,N,G,U]     what the input adds to the G gates' sums of the U units
///   weights[G,U,K]    what unit k of the state adds to them, K = U
///   bias[G,U]
///   first[P,N,U]      the states before the first step: h, and of an LSTM c
///   lengths[N]        the steps of each sequence; behind them its state stays as it is
///   dst[S,T,N,U]      h; of an LSTM c; of `gru` the state that its reset gate lets through
///
/// parted_recurrence is the same with memory for work-groups that share the units of a sequence:
///
///   marks[W,M]        zeros, M = 2*N*T; the kernel notes there what each of W parts has computed
///
/// The gates have ONNX's order: of a GRU update z, reset r, hidden n; of an LSTM input i, output o,
/// forget f, cell g. Their functions are ONNX's standard ones.
struct RecurrenceStructure {
  /// CELL. `gru` scales the state by the reset gate before it multiplies, `gru_behind` the product.
  enum class Cell : std::uint8_t { tanh = 0, relu = 1, gru = 2, gru_behind = 3, lstm = 4 };
  Cell cell = Cell::tanh;
  /// REVERSE: with `back` the last step is computed first.
  enum class From : std::uint8_t { front = 0, back = 1 } from = From::front;

  [[nodiscard]] std::int64_t gates() const;    ///< G
  [[nodiscard]] std::int64_t states() const;   ///< P
  [[nodiscard]] std::int64_t results() const;  ///< S

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("CELL", self.cell);
    field("REVERSE", self.from);
  }
};

}  // namespace morton::problems
