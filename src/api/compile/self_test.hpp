// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/compile/job.hpp"
#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "plan/ir/plan.hpp"

namespace morton::api {

struct CompiledState;

/// Compiles for a device with a cache folder and tries the kernels that are new there: the model
/// runs once on made-up inputs, and for each kernel the smallest layer that it computes is compared
/// with the reference. Kernels of wrong layers are excluded and the model is compiled anew, until
/// all is right; then they become verdicts, so that later plans leave them out. The report's
/// fallbacks name them. Throws DeviceError where a wrong kernel is asked for by name, or where no
/// other is left.
[[nodiscard]] std::shared_ptr<CompiledState> compile_tried(const Job& job, const Device& device);

/// Adds to the report's fallbacks what the plan does otherwise than was asked for: kernels that it
/// left out because a self-test found them wrong, which its notes name too, and steps on the host.
void add_fallbacks(const Plan& plan, CompileReport& report);

/// Likewise; throws UnsupportedError where there is something and it is refused.
void take_fallbacks(const Plan& plan, CompileOptions::Fallback wish, CompileReport& report);

}  // namespace morton::api
