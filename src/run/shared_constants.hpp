// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"

namespace morton::run {

/// For each value of `plan`, the value of `other` that holds the same bytes for all runs, or none:
/// the same tensor packed alike, or what the same load step derives from such. Both are for one
/// device.
[[nodiscard]] Indexed<ValueId, ValueId> shared_constants(const Plan& plan, const Plan& other);

}  // namespace morton::run
