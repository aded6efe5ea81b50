// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.hpp"

namespace morton::plan {

/// Rows of the batch for each device, in proportion to `weights` (any unit, such as rows a second),
/// at least one each; their sum is `batch`. Throws UsageError for a weight that is not a positive
/// number and for fewer rows than devices.
[[nodiscard]] std::vector<std::int64_t> share_rows(std::int64_t batch,
                                                   std::span<const double> weights);

}  // namespace morton::plan
