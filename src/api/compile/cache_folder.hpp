// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/rooms.hpp"

namespace morton::api {

/// Where Morton keeps files between processes: `given`, else $MORTON_CACHE_DIR, else
/// $XDG_CACHE_HOME/morton, else ~/.cache/morton; empty where none of them is known.
[[nodiscard]] std::filesystem::path cache_folder(const std::string& given);

/// The folder of tuning data in a cache folder; empty for an empty one.
[[nodiscard]] std::filesystem::path tuning_folder(const std::filesystem::path& cache);

}  // namespace morton::api
