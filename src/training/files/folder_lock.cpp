// SPDX-License-Identifier: Apache-2.0
#include "training/files/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.hpp"

namespace morton::training {
namespace {

namespace fs = std::filesystem;

/// It stays when a training has ended: a file that is removed and made again is two files, and two
/// trainings could hold one each.
fs::path lock_file(const fs::path& folder) { return folder / "training.lock"; }

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw UsageError(path.string() + ": " + what + ": " + std::strerror(errno));
}

/// Locks an open file, alone (LOCK_EX) or beside others that look (LOCK_SH); false where somebody
/// else has it.
[[nodiscard]] bool lock(int descriptor, int kind, const fs::path& folder) {
  int status = -1;
  do {
    status = ::flock(descriptor, kind | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  if (status != 0 && errno != EWOULDBLOCK) fail(lock_file(folder), "cannot be locked");
  return status == 0;
}

[[noreturn]] void fail_taken(const fs::path& folder) {
  throw UsageError(folder.string() +
                   ": another training writes to this folder; wait for its end, or take another " +
                   "folder");
}

/// Closes itself.
struct Descriptor {
  explicit Descriptor(int opened) : value(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  const int value;
};

/// Who only looks has the lock for an instant, which a start waits for.
void lock_for_training(int descriptor, const fs::path& folder) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{10};
  for (int i = 0; i < kTries; ++i) {
    if (lock(descriptor, LOCK_EX, folder)) return;
    std::this_thread::sleep_for(kPause);
  }
  fail_taken(folder);
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
    lock_for_training(descriptor_, folder);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

void require_unlocked(const fs::path& folder) {
  const fs::path path = lock_file(folder);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value < 0 && (errno == ENOENT || errno == ENOTDIR)) return;
  if (file.value < 0) fail(path, "cannot be opened");
  if (!lock(file.value, LOCK_SH, folder)) fail_taken(folder);
}

}  // namespace morton::training
