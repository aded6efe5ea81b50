// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// As carry_out: one plan over several devices, loaded. They share the batch in proportion to the
/// job's weights, else to the speed that is measured first. No kernel is tried.
[[nodiscard]] std::shared_ptr<CompiledState> carry_out_over(const std::vector<Device>& devices,
                                                            const Job& job);

}  // namespace morton::api
