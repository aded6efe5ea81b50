// SPDX-License-Identifier: Apache-2.0
#include "training/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace morton {
namespace {

namespace fs = std::filesystem;

/// It stays when a training has ended: a file that is removed and made again is two files, and two
/// trainings could hold one each.
fs::path lock_file(const fs::path& folder) { return folder / "training.lock"; }

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw UsageError(path.string() + ": " + what + ": " + std::strerror(errno));
}

/// Locks an open file; throws where somebody else has it.
void lock(int descriptor, const fs::path& folder) {
  int status = -1;
  do {
    status = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  if (status == 0) return;
  if (errno != EWOULDBLOCK) fail(lock_file(folder), "cannot be locked");
  throw UsageError(folder.string() +
                   ": another training writes to this folder; wait for its end, or take another " +
                   "folder");
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code status;
  fs::create_directories(folder, status);
  if (status) throw UsageError(folder.string() + ": cannot be created: " + status.message());
  const fs::path path = lock_file(folder);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(path, "cannot be opened");
  try {
    lock(descriptor_, folder);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

void require_unlocked(const fs::path& folder) {
  std::error_code status;
  if (fs::exists(lock_file(folder), status)) const FolderLock held(folder);
}

}  // namespace morton
