// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// Plans the job for one device and for the other extents that it is to serve, and loads the plan.
/// No kernel is tried before it is trusted. One that the driver refuses is left out, the job is
/// planned anew, and the report's fallbacks say so. Throws what planning and building throw.
[[nodiscard]] std::shared_ptr<CompiledState> compile_untried(const Job& job, const Device& device);

}  // namespace morton::api
