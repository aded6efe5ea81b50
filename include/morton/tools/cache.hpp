// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "morton/export.hpp"

namespace morton {

/// Tuning data of one device in the cache folder.
struct CachedTuning {
  std::string file;
  std::string device;  ///< its name
  std::int64_t records = 0, refused = 0;
  std::int64_t static_costs = 0;  ///< what a GPU's compiler told (`tune --static`)
};

/// Verdicts of self-tests on one device and driver.
struct CachedSelfTest {
  std::string file;
  std::string device;
  std::int64_t right = 0;            ///< kernels that computed rightly
  std::vector<std::string> refused;  ///< those that did not, with the reason
};

/// The contents of the cache folder.
struct CacheContent {
  std::string folder;
  std::string missing;  ///< why there is no such folder; empty where there is one
  std::int64_t programs = 0, program_bytes = 0;
  std::int64_t plans = 0, plan_bytes = 0;  ///< bytes with the weights that plans changed
  std::vector<CachedTuning> tuning;
  std::int64_t journals = 0;  ///< of tuning that was cut off
  std::vector<CachedSelfTest> self_tests;
  std::vector<std::string> problems;  ///< files that are damaged, with the reason
};

/// `cache_dir` is as in DeviceConfig. All throw UsageError where no cache folder is known.
[[nodiscard]] MORTON_API std::string cache_folder_named(const std::string& cache_dir);
/// Why built kernels cannot be kept in that folder: it cannot be made or written, or it is full.
/// Empty where they can; then the folder is there.
[[nodiscard]] MORTON_API std::string why_cache_keeps_nothing(const std::string& cache_dir);
/// What lies in that folder, part by part.
[[nodiscard]] MORTON_API CacheContent cache_content(const std::string& cache_dir);

/// A part of a cache folder.
enum class CachePart : std::uint8_t { programs, plans, tuning, self_test, all };
/// The folder `inner` of the cache folder ("tuning/journal"), made for this user alone where it is
/// missing. Throws UsageError for a cache folder that others may write, that is another user's, or
/// that cannot be made.
[[nodiscard]] MORTON_API std::string made_cache_folder(const std::string& cache_dir,
                                                       const std::string& inner);
/// Removes that part (with `tuning` also its journals); returns the number of files removed.
MORTON_API std::int64_t clear_cache(const std::string& cache_dir, CachePart part);

/// All tuning data of the folder as one text.
[[nodiscard]] MORTON_API std::string export_tuning(const std::string& cache_dir);
/// Adds what `export_tuning` gave, or a file of one device, to the folder's data; returns the
/// number of records. Throws ModelError for what is neither.
MORTON_API std::int64_t import_tuning(const std::string& cache_dir, const std::string& text,
                                      const std::string& file);

/// Adds the data of one device in `text`, of the name `file`, to the tuning file `into`, which is
/// made where there is none: in place of earlier records of the same kernels and problems. Throws
/// ModelError where `into` is no tuning file or another device's, UsageError where it cannot be
/// written.
MORTON_API void add_tuning(const std::string& into, const std::string& text,
                           const std::string& file);
/// Makes the file's folder. Throws ModelError where add_tuning would for data of this device
/// (Device::json), UsageError where the folder cannot be made or written.
MORTON_API void require_tuning_file(const std::string& into, const std::string& device_json);

}  // namespace morton
