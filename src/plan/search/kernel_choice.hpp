// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// The tensor with this id: one of the tasks', or a temporary of the candidate.
[[nodiscard]] const TaskTensor& tensor_at(int id, const TaskList& tasks,
                                          const Temporaries& temporaries);

/// Whether an entry of a family of any rank walks the rows of its problem, whose result may be a
/// part of dst: one of several that are joined. Others walk the memory of dst, all of it.
[[nodiscard]] bool writes_parts(const Entry& entry);

/// One kernel on the problem as it is, with what it demands of its operands and what it would cost;
/// or why it cannot be.
[[nodiscard]] OrReason<KernelChoice> choose_entry(const Entry& entry, const SharedProblem& bound,
                                                  const std::string& name,
                                                  const PlanContext& context,
                                                  const Temporaries& temporaries);

}  // namespace morton::plan
