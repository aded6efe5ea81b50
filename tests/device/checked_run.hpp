// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "morton/tensor.hpp"
#include "run/loaded_plan.hpp"
#include "run/runner.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// What lies around a value's memory in a checked run.
enum class Surroundings : std::uint8_t {
  guards,   ///< a known pattern, which reads as NaN and must be there afterwards; values hold NaN
            ///< first
  nothing,  ///< a buffer of the exact size, never written by the host: for Oclgrind to watch
};

/// What a checked run left.
struct CheckedResult {
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
[[nodiscard]] CheckedResult run_checked(const LoadedPlan& loaded,
                                        std::span<const NamedTensor> inputs,
                                        Surroundings surroundings, const Catalogue& catalogue);

/// The output named `name` of a checked run, dense.
[[nodiscard]] Tensor output_of(const CheckedResult& result, const Plan& plan,
                               const std::string& name);

/// Fills all memory between the steps of `runner` with NaN, its inputs and outputs too.
void poison(Runner& runner);

/// Makes all plans share one program that holds every kernel instance of any of them: PoCL takes
/// half a second for each program.
void share_program(std::span<Plan* const> plans);

}  // namespace morton::test
