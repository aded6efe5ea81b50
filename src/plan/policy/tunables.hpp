// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/rejection.hpp"

namespace morton::plan {

/// The values with which an entry is planned, and where they come from.
struct ChosenTunables {
  enum class Origin : std::uint8_t { standard, set, tuned } origin = Origin::standard;
  Environment values;
  /// "as set", "the entry's standard", "tuned on this device for this problem"; empty for an entry
  /// without tunables of which nothing was measured.
  std::string from;
  /// Of tuned ones: the share of the peak that they reached (TunedRecord::efficiency), and whether
  /// on this very problem and device; else 0.
  double efficiency = 0.0;
  bool exact = false;
};

/// The entry's standard values, then those that `options.local` sets, then those that
/// `options.tunables` gives for the entry, or, where it gives none for a batched one, for the gemm
/// entry that it repeats. Without values for a work-group that the entry does not list.
/// `device` is its facts (environment_of).
[[nodiscard]] OrReason<ChosenTunables> choose_tunables(const Entry& entry,
                                                       const Environment& device,
                                                       const PlanOptions& options);

/// What was found in tuning data for an entry whose values are not set; without values of its own
/// where it knows nothing (`from` may then say why).
/// Values from another device than `device` are taken only where the entry would have tuning try
/// them on a device with the facts `device_names`.
[[nodiscard]] ChosenTunables tuned_tunables(const Entry& entry, const TunedData::Hit& hit,
                                            const TunedDevice& device,
                                            const Environment& device_names);

/// Whether these are values of all the entry's tunables, as it lists them: files come from anyone.
[[nodiscard]] bool are_listed(const Entry& entry, const Environment& values);

/// Whether the entry would have tuning try these values on a device with these facts: tiles that
/// fit its registers (Tunable::tried).
[[nodiscard]] MORTON_FOR_TOOLS bool are_tried(const Entry& entry, const Environment& values,
                                              const Environment& device_names);

/// "1, 2, 4".
[[nodiscard]] std::string values_text(const std::vector<std::int64_t>& values);
/// "TILE_M=6 TILE_N=64".
[[nodiscard]] MORTON_FOR_TOOLS std::string print_tunables(const Environment& values);

/// Throws UsageError for a kernel, a tunable or a value that the catalogue does not list, and says
/// which it does.
void check_tunables(const std::map<std::string, Environment>& given, const Catalogue& catalogue);

}  // namespace morton::plan
