// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "morton/tune.hpp"
#include "plan/tuned.hpp"

namespace morton {

/// The entries of family gemm that these names mean ("tile" is "gemm.tile"). Throws UsageError for
/// others, with those there are.
[[nodiscard]] std::vector<const Entry*> named_kernels(const std::vector<std::string>& names,
                                                      const Catalogue& catalogue);

/// The entries that can compute the product by themselves, quickest first as the cost model guesses
/// without any tuning data, as far as the effort goes.
[[nodiscard]] std::vector<const Entry*> likely_kernels(const GemmShape& shape,
                                                       TuneOptions::Effort effort,
                                                       const Catalogue& catalogue,
                                                       const DeviceInfo& device);

}  // namespace morton
