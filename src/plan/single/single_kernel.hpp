// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/candidates.hpp"
#include "plan/single/example_problem.hpp"
#include "source/instance.hpp"

namespace morton::plan {

/// A kernel by itself, as a plan would launch it.
struct SingleKernel {
  KernelChoice choice;
  InstanceSpec spec;
  InstanceSource source;
  LaunchSize size;
};

/// The entry on a problem of its family with these sizes; what is not given is as an example has it
/// (plan/single/example_problem.hpp). Tunables are chosen as plans choose them. Of `options` count
/// what sets and knows tunables; the entry counts as named, and operands are rounded as it wants.
/// `catalogue` holds the entry. Throws UsageError for sizes that make no problem, UnsupportedError
/// with the reason where the entry cannot compute it on the device.
[[nodiscard]] MORTON_FOR_TOOLS SingleKernel
single_kernel(const Entry& entry, const Environment& sizes, const Catalogue& catalogue,
              const DeviceInfo& device, PlanOptions options,
              ExampleEpilogue epilogue = ExampleEpilogue::none);

/// A problem, and a plan whose only step is a kernel on it.
struct SinglePlan {
  PosedProblem posed;
  Plan plan;  ///< inputs are the operands that are read, by role, as the entry demands them; "dst"
};

/// As single_kernel, with the operands' places in memory.
[[nodiscard]] MORTON_FOR_TOOLS SinglePlan single_plan(const Entry& entry, const Environment& sizes,
                                                      const Catalogue& catalogue,
                                                      const DeviceInfo& device,
                                                      PlanOptions options);

}  // namespace morton::plan
