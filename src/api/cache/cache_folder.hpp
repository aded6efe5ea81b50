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

/// The folder of tuning data in a cache folder; empty for an empty one.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path tuning_folder(
    const std::filesystem::path& cache);

}  // namespace morton::api
