// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::plan {

/// The file of a device's tuning data in a folder.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path tuning_file(
    const std::filesystem::path& folder, const TunedDevice& device);

/// Throws ModelError for a file that is damaged or another device's; none is neither.
void require_own_tuning(const std::filesystem::path& path, const TunedDevice& device);

/// Makes the file's folder. Throws ModelError where `store_tuning` would because of what the file
/// is or holds, UsageError where the folder cannot be made or written.
MORTON_FOR_TOOLS void require_storable(const std::filesystem::path& path,
                                       const TunedDevice& device);

/// Adds to the file of one device what was found, in place of earlier records of the same kernel
/// and problem, earlier verdicts on the same values, all earlier static costs of these kernels, and
/// all of other versions of them. Of
/// kernels as `catalogue` has them all digests are those of their code afterwards.
/// The file is replaced at once; processes that do so at the same time wait for each other. Throws
/// ModelError for a file that is damaged or another device's, UsageError for one that cannot be
/// written.
MORTON_FOR_TOOLS void store_tuning(const std::filesystem::path& path, const TunedDevice& device,
                                   TunedData found, const Catalogue& catalogue);

}  // namespace morton::plan
