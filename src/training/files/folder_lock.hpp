// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/rooms.hpp"

namespace morton::training {

/// Keeps a folder for one training: as long as it lives, no other one, of this process or another,
/// gets the same folder. A process that ends in any way lets go of it.
class FolderLock {
 public:
  /// Creates what is missing: the folder, and in it the file that is locked. Throws UsageError that
  /// names the folder where another training writes to it, or nobody can.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

/// Throws UsageError where a training writes to `folder`; creates nothing.
void require_unlocked(const std::filesystem::path& folder);

}  // namespace morton::training
