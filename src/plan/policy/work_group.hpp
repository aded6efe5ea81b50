// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/policy/rejection.hpp"

namespace morton::plan {

/// The tunables that set the work-group, by its dimensions: those of `local` that are one tunable
/// named LOCAL or LOCAL_<something>. Empty for a fixed work-group.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<std::string> work_group_tunables(const Entry& entry);

/// The entry's standard tunables on a device with these facts, with the work-group `local`, where
/// it leaves as many dimensions open as `local` has; `local` may be empty. Without a value for a
/// size that the entry does not list: the reason has those that would do.
[[nodiscard]] OrReason<Environment> tunables_for(const Entry& entry, const Environment& device,
                                                 const std::vector<std::int64_t>& local);

/// `values` with each work-group that the entry lists and that has as many work-items as that of
/// `values`, in the order of the listed sizes.
[[nodiscard]] std::vector<Environment> work_groups_as_large(const Entry& entry,
                                                            const Environment& values);

/// "4x16".
[[nodiscard]] std::string work_group_text(const std::vector<std::int64_t>& local);

/// Why `local` does not apply to the entry, for the plan's text; empty where it does or nothing is
/// asked.
[[nodiscard]] Message work_group_note(const Entry& entry, const std::vector<std::int64_t>& local);

/// Throws UsageError for a work-group that is none, or that no kernel of the catalogue takes, with
/// a few that are near it.
void check_work_group(const std::vector<std::int64_t>& local, const Catalogue& catalogue);

}  // namespace morton::plan
