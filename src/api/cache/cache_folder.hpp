// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "morton/device.hpp"

namespace morton::api {

/// Where Morton keeps files between processes: `given`, else $MORTON_CACHE_DIR, else
/// $XDG_CACHE_HOME/morton, else ~/.cache/morton; empty where none of them is known.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path cache_folder(const std::string& given);

/// Where a device that is opened so keeps them; empty where it keeps none.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path cache_folder_of(const DeviceConfig& config);

/// A cache folder as far as it is used.
struct UsableCache {
  std::filesystem::path folder;  ///< empty where nothing is kept, or nothing in it is believed
  Message problem;               ///< why it is not believed, and how to mend that
};
/// `folder`, unless somebody else may have put something into it (docs/security.md): then nothing
/// is read from it, and nothing written.
[[nodiscard]] MORTON_FOR_TOOLS UsableCache usable_cache(const std::filesystem::path& folder);
/// `folder`; throws UsageError where it is not believed.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path trusted_cache(
    const std::filesystem::path& folder);

/// The folder of tuning data in a cache folder; empty for an empty one.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path tuning_folder(
    const std::filesystem::path& cache);

}  // namespace morton::api
