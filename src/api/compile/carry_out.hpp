// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// What a job makes of its model: the plan for the device, loaded. Kernels that are new there are
/// tried where the job wants that. Throws what planning, building and trying throw, and
/// UnsupportedError where the job refuses fallbacks and there are some.
[[nodiscard]] std::shared_ptr<CompiledState> carry_out(const Job& job, const Device& device);

/// The model of `compiled`, which has one, compiled as it was, for another device. The log hears of
/// it; progress is told only to the caller of `compile`. Throws what `carry_out` throws.
[[nodiscard]] std::shared_ptr<CompiledState> carry_out_anew(const CompiledState& compiled,
                                                            const Device& device);

}  // namespace morton::api
