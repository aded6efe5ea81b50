// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "morton/tools/named_probes.hpp"

namespace morton::tools {

/// The order that these tickets show; of group (i, j) at i + j * groups[0].
[[nodiscard]] WorkGroupOrder::Repetition repetition_of(std::vector<std::int64_t> tickets,
                                                       const std::array<std::int64_t, 2>& groups);

}  // namespace morton::tools
