// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "plan/kernel/entry_table.hpp"
#include "plan/kernel/kernel_choice.hpp"

namespace morton::plan {

/// A kernel that may become a choice: what it is made from.
struct AskedKernel {
  const PreparedEntry& entry;
  const SharedProblem& bound;
  const PlanContext& context;
  const Temporaries& temporaries;

  [[nodiscard]] const TaskTensor& tensor(TensorId id) const {
    return tensor_at(id, context.tasks, temporaries);
  }
};

}  // namespace morton::plan
