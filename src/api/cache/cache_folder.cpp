// SPDX-License-Identifier: Apache-2.0
#include "api/cache/cache_folder.hpp"

#include <optional>
#include <string>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/files/trusted.hpp"

namespace morton::api {

std::filesystem::path cache_folder(const std::string& given) {
  if (!given.empty()) return given;
  if (const auto folder = environment_variable("MORTON_CACHE_DIR")) return *folder;
  if (const auto folder = environment_variable("XDG_CACHE_HOME"))
    return std::filesystem::path(*folder) / "morton";
  if (const auto home = environment_variable("HOME"))
    return std::filesystem::path(*home) / ".cache" / "morton";
  return {};
}

std::filesystem::path cache_folder_of(const DeviceConfig& config) {
  if (config.disk_cache == DeviceConfig::DiskCache::none) return {};
  return cache_folder(config.cache_dir);
}

UsableCache usable_cache(const std::filesystem::path& folder) {
  const std::optional<std::string> why =
      folder.empty() ? std::nullopt : why_cache_not_trusted(folder);
  if (!why) return {folder, {}};
  return {{},
          *why + "; nothing is read from the cache folder " + folder.string() +
              ", and nothing is kept there, until that is mended, or another folder is named (" +
              setting("cache_dir") + ")"};
}

std::filesystem::path trusted_cache(const std::filesystem::path& folder) {
  const UsableCache cache = usable_cache(folder);
  if (!cache.problem.empty()) throw UsageError(cache.problem);
  return cache.folder;
}

std::filesystem::path tuning_folder(const std::filesystem::path& cache) {
  return cache.empty() ? cache : cache / "tuning";
}

}  // namespace morton::api
