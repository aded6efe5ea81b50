// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"

namespace morton::device {

/// A new folder below the system's folder for temporary files, `morton-compile-PID-XXXXXX`, locked
/// as long as the object is there, and removed with it. What processes that were killed left of
/// theirs is removed before. Throws DeviceError where it cannot be made.
class PrivateFolder {
 public:
  PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

/// Removes the folders below `parent` with such names that are this user's, that nobody has locked,
/// and whose process is gone.
void remove_left_folders(const std::string& parent);

}  // namespace morton::device
