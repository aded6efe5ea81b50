// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"

namespace morton::plan {

/// `use` (family -> entry or recipe) with full names: "clblast" of family gemm is "gemm.clblast".
/// Throws UsageError for an unknown family or name, and for a name of another family.
[[nodiscard]] std::map<std::string, std::string> resolve_use(
    const std::map<std::string, std::string>& use, const Catalogue& catalogue);

}  // namespace morton::plan
