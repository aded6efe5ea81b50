// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"

namespace morton::plan {

/// Chooses kernels and formats for the whole graph, places its memory. The graph has its shapes
/// inferred. Throws UnsupportedError when a node has no kernel (naming the reasons), UsageError
/// when what the policy asks for cannot be obeyed.
[[nodiscard]] MORTON_FOR_TOOLS Plan make_plan(const Graph& graph, const DeviceInfo& device,
                                              const KernelPolicy& policy);
/// Likewise with a policy of its own. Throws what making the policy throws, too.
[[nodiscard]] Plan make_plan(const Graph& graph, const Catalogue& catalogue,
                             const DeviceInfo& device, const PlanOptions& options);

}  // namespace morton::plan
