// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"

namespace morton::plan {

/// `use` (family -> entry or recipe) with full names: "clblast" of family gemm is "gemm.clblast".
/// Throws UsageError for an unknown family or name, and for a name of another family.
[[nodiscard]] std::map<std::string, std::string> resolve_use(
    const std::map<std::string, std::string>& use, const Catalogue& catalogue);

/// Names of the family's entries and recipes, or of all for no family. The catalogue holds them.
[[nodiscard]] std::vector<std::string_view> kernels_of(std::string_view family,
                                                       const Catalogue& catalogue);

/// "; near it: gemm.tile (`morton kernel` lists all kernels)": those of `names` that were perhaps
/// meant by `given`, and where all are listed.
[[nodiscard]] Message names_near(std::string_view given,
                                 const std::vector<std::string_view>& names);

}  // namespace morton::plan
