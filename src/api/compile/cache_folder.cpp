// SPDX-License-Identifier: Apache-2.0
#include "api/compile/cache_folder.hpp"

#include "base/knobs.hpp"

namespace morton::api {

std::filesystem::path cache_folder(const std::string& given) {
  if (!given.empty()) return given;
  if (const auto folder = knob("MORTON_CACHE_DIR")) return *folder;
  if (const auto folder = knob("XDG_CACHE_HOME")) return std::filesystem::path(*folder) / "morton";
  if (const auto home = knob("HOME")) return std::filesystem::path(*home) / ".cache" / "morton";
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
