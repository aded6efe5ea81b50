// SPDX-License-Identifier: Apache-2.0
#include "device/open/cache_limit.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files/folder.hpp"

namespace morton::device {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPerhapsAwaited{1};

struct KeptFile {
  fs::path file;
  fs::file_time_type used;
  std::int64_t bytes = 0;
};

/// Also the unfinished ones, which bear the extension within their names.
void add_files(const fs::path& folder, std::string_view extension, std::vector<KeptFile>& files) {
  std::error_code status;
  for (const fs::path& file : entries_of(folder, status)) {
    if (file.filename().string().find(extension) == std::string::npos) continue;
    // Another process may remove it meanwhile: then it counts for nothing.
    std::error_code gone;
    const auto used = fs::last_write_time(file, gone);
    const auto bytes = gone ? 0 : fs::file_size(file, gone);
    if (!gone) files.push_back({file, used, static_cast<std::int64_t>(bytes)});
  }
}

}  // namespace

void mark_used(const fs::path& file) {
  std::error_code status;  // an entry that cannot be marked is removed earlier, which is no harm
  fs::last_write_time(file, fs::file_time_type::clock::now(), status);
}

std::int64_t keep_within(const fs::path& folder, std::int64_t limit_bytes,
                         const std::set<std::string>& in_use) {
  std::vector<KeptFile> files;
  add_files(folder / "programs", ".bin", files);
  add_files(folder / "plans", ".plan", files);
  add_files(folder / "plans", ".tensors", files);
  std::ranges::sort(files, {}, &KeptFile::used);
  std::int64_t total_bytes = 0;
  for (const KeptFile& one : files) total_bytes += one.bytes;
  const auto awaited = fs::file_time_type::clock::now() - kPerhapsAwaited;
  std::int64_t removed = 0;
  for (const KeptFile& one : files) {
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
