// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/dtype.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// A mark on each tensor of a list; of aliases the root has it.
using TensorMarks = Indexed<TensorId, std::uint8_t>;

/// The tensor that this one is another name of, in the end.
[[nodiscard]] TensorId root_in(const TaskList& list, TensorId tensor);

/// The largest finite number of f16 or bf16.
[[nodiscard]] float largest_of(DType type);

/// What a constant beyond the type's largest number goes into, as a mask of -1e9 into scores: sums,
/// products, choices, and what moves or joins them. Ends at matrix products and softmax.
/// A bound of a Clip is none, nor is an infinity.
[[nodiscard]] TensorMarks beyond_range(const TaskList& list, DType type);

/// The numbers whose sine, cosine or tangent is taken, and what they are made of. A place in
/// radians is a large number, and its error must be small beside 1. Likewise grids and boxes. Ends
/// at what a product of more than a few terms gives, as a convolution.
[[nodiscard]] TensorMarks places(const TaskList& list);

/// Whether the operand's numbers are places, thresholds or scales.
[[nodiscard]] bool is_exact(Family family, const std::string& role);

}  // namespace morton::plan
