// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "catalogue/catalogue.hpp"
#include "plan/plan.hpp"

namespace morton {

/// The values with which an entry is planned, and where they come from.
struct ChosenTunables {
  Environment values;
  std::string from;  ///< "as set", "the entry's standard"; empty for an entry without tunables
};

/// The entry's standard values, then those that `options.local` sets, then those that
/// `options.tunables` gives for the entry, or, where it gives none for a batched one, for the gemm
/// entry that it repeats. Throws UnsupportedError for a work-group that the entry does not list.
[[nodiscard]] ChosenTunables choose_tunables(const Entry& entry, const PlanOptions& options);

/// "TILE_M=6 TILE_N=64".
[[nodiscard]] std::string print_tunables(const Environment& values);

/// Throws UsageError for a kernel, a tunable or a value that the catalogue does not list, and says
/// which it does.
void check_tunables(const std::map<std::string, Environment>& given, const Catalogue& catalogue);

}  // namespace morton
