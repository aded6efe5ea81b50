// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/message.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// Which f32 tensors of a task list may lie in memory as halves, and why others may not.
struct Rounding {
  std::size_t tensors = 0;  ///< that may
  std::int64_t elements = 0;
  /// By name: those that stay f32, and why.
  std::map<std::string, std::string> kept;
};

/// For each reason a line with the tensors that stay f32 for it, as Plan::considered.
[[nodiscard]] std::vector<Message> lines_of(const Rounding& rounding);

/// Marks what may lie in memory as `type` (f16 or bf16): constants that fit it, and what lies
/// between tasks. Inputs, outputs, states, single numbers, and what whole numbers or places are
/// made of stay f32, as does all of a list that renews states (training).
[[nodiscard]] Rounding mark_rounded(TaskList& list, DType type);

}  // namespace morton::plan
