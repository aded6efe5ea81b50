// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "morton/tools/tune.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::tools {

/// Values as the public reports have them.
[[nodiscard]] std::map<std::string, std::int64_t> plain(const Environment& values);

/// The entries that these names mean ("tile" is "gemm.tile"). Throws UsageError for those that
/// cannot be tuned, with those that can.
[[nodiscard]] std::vector<const Entry*> named_kernels(const std::vector<std::string>& names,
                                                      const Catalogue& catalogue);

/// The entries that can compute the problem by themselves, quickest first as the cost model guesses
/// without any tuning data, as far as the effort goes.
[[nodiscard]] std::vector<const Entry*> likely_kernels(const TunedProblem& problem,
                                                       TuneOptions::Effort effort,
                                                       const Catalogue& catalogue,
                                                       const DeviceInfo& device);

}  // namespace morton::tools
