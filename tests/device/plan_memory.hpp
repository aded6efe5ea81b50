// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "plan/ir/plan.hpp"
#include "run/runner.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Fills all memory between the steps of `runner` with NaN, its inputs and outputs too.
void poison(Runner& runner);

/// Makes all plans share one program that holds every kernel instance of any of them: PoCL takes
/// half a second for each program.
void share_program(std::span<Plan* const> plans);

}  // namespace morton::test
