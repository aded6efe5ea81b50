// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "morton/tensor.hpp"
#include "run/guarded_memory.hpp"
#include "run/loaded_plan.hpp"

namespace morton::run {

/// What a guarded run left.
struct GuardedResult {
  /// Memory of each value that is not a constant, as the run left it, its padding included.
  Indexed<ValueId, std::vector<std::byte>> bytes;
  /// Guards that changed, inputs and constants that changed, padding that does not hold what
  /// their arrangement promises. Empty when all is well.
  std::string damage;
};

/// Runs a loaded plan with memory of its own for each value (nothing is recycled). `inputs` are
/// dense; they are packed into their arrangement, and padding whose contents are undefined holds
/// NaN.
///
/// With guards, padding holds the worst that is allowed: that of a step's result what its
/// arrangement promises no more than, and that of an operand, while the step runs, what the
/// kernel's entry in `catalogue` says that it bears. The worst is NaN for an undefined padding, a
/// large number for a finite one.
[[nodiscard]] MORTON_FOR_TOOLS GuardedResult run_guarded(const LoadedPlan& loaded,
                                                         std::span<const NamedTensor> inputs,
                                                         Surroundings surroundings,
                                                         const Catalogue& catalogue);

/// The output named `name` of a guarded run, dense.
[[nodiscard]] MORTON_FOR_TOOLS Tensor output_of(const GuardedResult& result, const Plan& plan,
                                                const std::string& name);

}  // namespace morton::run
