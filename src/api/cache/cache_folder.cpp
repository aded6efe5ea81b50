// SPDX-License-Identifier: Apache-2.0
#include "api/cache/cache_folder.hpp"

#include "base/environment_variables.hpp"

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

std::filesystem::path tuning_folder(const std::filesystem::path& cache) {
  return cache.empty() ? cache : cache / "tuning";
}

}  // namespace morton::api
