// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "plan/kernel/shared_list.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

class EntryTable;

/// Tensors that recipes make: task lists do not know them.
using Temporaries = SharedList<TaskTensor>;

/// What candidates are made from.
struct PlanContext {
  MORTON_FOR_TOOLS PlanContext(const KernelPolicy& considered, const DeviceInfo& on,
                               const TaskList& of);
  /// The same for other tasks, or under a policy that differs in `use`
  /// alone: what was worked out of the entries serves both.
  PlanContext(const PlanContext& like, const TaskList& of);
  PlanContext(const PlanContext& like, const KernelPolicy& considered);

  const KernelPolicy& policy;
  const Catalogue& catalogue;
  const DeviceInfo& device;
  const PlanOptions& options;
  const TaskList& tasks;
  double pack_efficiency;
  std::int64_t workspace_limit_bytes;
  std::int64_t weights_bytes;  ///< of all constants
  std::shared_ptr<EntryTable> entries;
  /// What the candidates that are listed must be; null: anything (plan/search/decided.hpp).
  const TaskDecision* decision = nullptr;
};

}  // namespace morton::plan
