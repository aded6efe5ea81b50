// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "plan/kernel/asked_kernel.hpp"

namespace morton::plan {

/// Why a kernel with these values of its tunables cannot be, as far as that can be told without the
/// values of its expressions; none where it may.
[[nodiscard]] std::optional<Reason> why_not_before_values(const AskedKernel& asked,
                                                          const Environment& tunables);

}  // namespace morton::plan
