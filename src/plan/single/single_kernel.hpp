// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
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

}  // namespace morton::plan
