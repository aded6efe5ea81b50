// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/search/join_tasks.hpp"

namespace morton::plan {

/// The context's tasks, of which each convolution whose result only a pool reads is one task with
/// that pool (family conv2d_pool) where a kernel does both in less time than the best two do apart.
/// Both must be of two dimensions, the pool without dilation, and the convolution's epilogue a bias
/// and a map of problems/conv2d_pool.hpp. Pairs stay apart where PlanOptions::use names kernels for
/// either, and at other extents where they were decided so. `notes` gets a line for each pair that
/// could be one problem; `memo` is of the context, and knows the pairs' candidates afterwards.
[[nodiscard]] TaskList join_pools(const PlanContext& context, CandidateMemo& memo,
                                  JoinNotes& notes);

/// A convolution and the pool that reads its result as one task of family conv2d_pool; nothing
/// where no problem of the family says what they do.
[[nodiscard]] MORTON_FOR_TOOLS std::optional<Task> joined_with_pool(const Task& conv,
                                                                    const Task& pool,
                                                                    const TaskList& tasks);

}  // namespace morton::plan
