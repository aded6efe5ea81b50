// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/rooms.hpp"

namespace morton::training {

/// A file that only grows. What has been appended is the system's, so a kill of this process loses
/// none of it.
class AppendFile {
 public:
  /// Creates missing folders. Throws UsageError that names the file.
  explicit AppendFile(const std::filesystem::path& path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Throws UsageError where the bytes cannot be written (a full disk).
  void append(std::string_view bytes);

 private:
  std::string where_;
  int descriptor_ = -1;
};

}  // namespace morton::training
