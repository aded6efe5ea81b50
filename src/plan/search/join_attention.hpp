// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/search/join_tasks.hpp"

namespace morton::plan {

/// Adds to the list's tensors a constant zero, the mask of scores that have none, where some scores
/// could be a task of family attention and have none. No value where none is needed.
[[nodiscard]] MORTON_FOR_TOOLS std::optional<TensorId> add_zero_mask(TaskList& tasks);

/// Tasks that compute attention together: a product of queries and keys whose epilogue scales it
/// and adds a mask, a softmax along its last dimension, a product with the values, and the
/// transposes that bring heads together before and apart behind.
struct Attention {
  Task task;                  ///< all of them as one, of family attention
  std::vector<TaskId> apart;  ///< what `task` replaces, in the list's order; it stands at the last
  std::vector<TaskId>
      turned;  ///< transposes before it whose source `task` reads; others may read them
};

/// The attention whose scores this task computes; nothing where no problem of the family says what
/// it and those behind it do, or somebody else reads what lies between them. Operands are of four
/// dimensions: sequences, heads, rows, columns. `zero` is what add_zero_mask gave.
[[nodiscard]] MORTON_FOR_TOOLS std::optional<Attention> attention_of(TaskId scores,
                                                                     const TaskList& tasks,
                                                                     std::optional<TensorId> zero);

/// The context's tasks, of which those that compute attention are one where a kernel does all in
/// less time than the best do apart. They stay apart where PlanOptions::use names kernels for any
/// of them, and at other extents where they were decided so. As join_pools.
[[nodiscard]] TaskList join_attention(const PlanContext& context, std::optional<TensorId> zero,
                                      CandidateMemo& memo, JoinNotes& notes);

}  // namespace morton::plan
