// SPDX-License-Identifier: Apache-2.0
#include "device/open/cache_limit.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

namespace morton::device {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPerhapsAwaited{1};

struct KeptProgram {
  fs::path file;
  fs::file_time_type used;
  std::int64_t bytes = 0;
};

std::vector<KeptProgram> programs_in(const fs::path& folder) {
  std::vector<KeptProgram> programs;
  std::error_code status;
  for (const auto& file : fs::directory_iterator(folder, status)) {
    if (file.path().extension() != ".bin") continue;
    // Another process may remove it meanwhile: then it counts for nothing.
    std::error_code gone;
    const auto used = file.last_write_time(gone);
    const auto bytes = gone ? 0 : file.file_size(gone);
    if (!gone) programs.push_back({file.path(), used, static_cast<std::int64_t>(bytes)});
  }
  return programs;
}

}  // namespace

void mark_used(const fs::path& file) {
  std::error_code status;  // an entry that cannot be marked is removed earlier, which is no harm
  fs::last_write_time(file, fs::file_time_type::clock::now(), status);
}

std::int64_t keep_within(const fs::path& folder, std::int64_t limit_bytes,
                         const std::set<std::string>& in_use) {
  std::vector<KeptProgram> programs = programs_in(folder);
  std::ranges::sort(programs, {}, &KeptProgram::used);
  std::int64_t total_bytes = 0;
  for (const KeptProgram& one : programs) total_bytes += one.bytes;
  const auto awaited = fs::file_time_type::clock::now() - kPerhapsAwaited;
  std::int64_t removed = 0;
  for (const KeptProgram& one : programs) {
    if (total_bytes <= limit_bytes || one.used > awaited) break;
    if (in_use.contains(one.file.stem().string())) continue;
    std::error_code status;
    if (!fs::remove(one.file, status)) continue;
    total_bytes -= one.bytes;
    ++removed;
  }
  return removed;
}

}  // namespace morton::device
