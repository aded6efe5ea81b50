// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/core/node_view.hpp"
#include "problems/sequences/recurrence.hpp"

namespace morton::ops {

/// The inputs of a RecurrentSequence by their place: operands of the family recurrence, in its
/// order.
enum SequencePlace : std::size_t { kSums, kWeights, kGateBias, kFirst, kSequenceLengths };

using SequenceCell = problems::RecurrenceStructure::Cell;

/// A RecurrentSequence node, read.
struct RecurrentSequence {
  problems::RecurrenceStructure structure;
  std::int64_t steps = 0, sequences = 0, gates = 0, units = 0;
};

/// Most steps that are nodes of their own, which planning takes time for: in a gradient, and of
/// cells that are no RecurrentSequence.
inline constexpr std::int64_t kMostSteps = 1024;

/// 1 where sequence n has step t, T x N x 1, by their lengths (i64, N).
[[nodiscard]] TensorId present_steps(GraphWriter& writer, TensorId lengths, std::int64_t steps,
                                     DType type);

/// `value` where `mask` is 1, else `otherwise`, or 0 without one: whatever the other holds there.
[[nodiscard]] TensorId chosen(GraphWriter& writer, TensorId mask, TensorId value,
                              TensorId otherwise = kNoTensor);

/// Throws ModelError where the inputs do not go together.
[[nodiscard]] RecurrentSequence recurrent_sequence_of(const NodeView& node);

}  // namespace morton::ops
