// SPDX-License-Identifier: Apache-2.0
#include "base/files/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/files/folder.hpp"

namespace morton {
namespace {

constexpr const char* kSlowWrites = "MORTON_SLOW_WRITES";

/// What the name of a file has behind it until the file is whole, for mkostemp.
constexpr std::string_view kUnfinished = ".unfinished-XXXXXX";

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const char* path, int flags, mode_t mode = 0) : value_(::open(path, flags, mode)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw ModelError(path.string() + ": " + what);
}

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const std::string& what) {
  fail(path, what + ": " + std::strerror(errno));
}

/// Who names a place that cannot be written must name another.
[[noreturn]] void fail_writing(const std::filesystem::path& path, const std::string& what) {
  throw UsageError(path.string() + ": " + what);
}

[[noreturn]] void fail_writing_with_errno(const std::filesystem::path& path,
                                          const std::string& what) {
  fail_writing(path, what + ": " + std::strerror(errno));
}

/// Slow writing takes so many pieces.
constexpr std::size_t kSlowPieces = 16;

/// Whether `name` is one that mkostemp makes for the file `whole`.
bool is_unfinished(std::string_view name, std::string_view whole) {
  const std::string_view fixed = kUnfinished.substr(0, kUnfinished.find('X'));
  return name.size() == whole.size() + kUnfinished.size() && name.starts_with(whole) &&
         name.substr(whole.size()).starts_with(fixed);
}

/// Locks an open file; false where another process has it and `kind` says not to wait. Where the
/// file system knows no locks there is nobody to mind.
bool lock(int descriptor, int kind) {
  int status = -1;
  do {
    status = ::flock(descriptor, kind);
  } while (status != 0 && errno == EINTR);
  return status == 0 || errno != EWOULDBLOCK;
}

/// A file of that pattern's name that is locked: so `remove_unfinished` knows that it is being
/// written.
int make_unfinished(std::string& temporary, const std::string& pattern) {
  while (true) {
    temporary = pattern;
    const int created = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (created < 0) fail_writing_with_errno(temporary, "cannot create");
    static_cast<void>(lock(created, LOCK_EX));
    // Whoever found it before it was locked has removed it.
    if (::access(temporary.c_str(), F_OK) == 0 || errno != ENOENT) return created;
    ::close(created);
  }
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// mkostemp makes a file private; an ordinary one follows the user's mask.
mode_t mode_of(Access access) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = 0666 & ~mask;
  return access == Access::owner_writes ? mode & ~mode_t{S_IWGRP | S_IWOTH} : mode;
}

void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  const bool slow = environment_variable(kSlowWrites).has_value();
  const std::size_t most = slow ? bytes.size() / kSlowPieces + 1 : bytes.size();
  while (!bytes.empty()) {
    if (slow) pause_for_slow_writes();
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(most, bytes.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing_with_errno(path, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::int64_t limit_bytes) {
  const Descriptor file(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.get() < 0) fail_with_errno(path, "cannot open");
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail_with_errno(path, "cannot examine");
  if (!S_ISREG(facts.st_mode)) fail(path, "is not a regular file");
  if (facts.st_size > limit_bytes) {
    fail(path, "is " + std::to_string(facts.st_size) + " bytes; at most " +
                   std::to_string(limit_bytes) + " are read here");
  }
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path, "cannot read");
    if (got == 0) fail(path, "became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void flush_folder(const std::filesystem::path& folder) {
  const Descriptor opened(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder that can be written need not be readable.
  if (opened.get() < 0 || ::fsync(opened.get()) == 0) return;
  const bool has_none = errno == EINVAL || errno == ENOTSUP || errno == EROFS;
  if (!has_none) fail_writing_with_errno(folder, "cannot flush the folder");
}

void pause_for_slow_writes() {
  const std::optional<std::string> pause = environment_variable(kSlowWrites);
  if (!pause) return;
  int milliseconds = 0;
  const char* end = pause->data() + pause->size();
  const auto [stop, status] = std::from_chars(pause->data(), end, milliseconds);
  if (status != std::errc() || stop != end || milliseconds < 0) {
    throw UsageError(std::string(kSlowWrites) + ": expected milliseconds, got '" + *pause + "'");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  write_file_atomically(path, std::span(&bytes, 1));
}

void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts, Flush flush, Access access) {
  const std::filesystem::path folder = folder_of(path);
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (status) fail_writing(folder, "cannot create the folder: " + status.message());
  std::string temporary;
  const int created = make_unfinished(temporary, path.string() + std::string(kUnfinished));
  try {
    for (const std::string_view part : parts) write_all(created, part, temporary);
    if (access != Access::owner_alone && ::fchmod(created, mode_of(access)) != 0) {
      fail_writing_with_errno(temporary, "cannot set the mode");
    }
    if (flush == Flush::at_once && ::fsync(created) != 0) {
      fail_writing_with_errno(temporary, "cannot flush");
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      fail_writing_with_errno(path, "cannot rename to");
    }
  } catch (...) {
    ::close(created);
    ::unlink(temporary.c_str());
    throw;
  }
  ::close(created);
  if (flush == Flush::at_once) flush_folder(folder);
}

void remove_unfinished(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  std::error_code status;
  std::vector<std::filesystem::path> found;
  for (const std::filesystem::path& entry : entries_of(folder_of(path), status)) {
    if (is_unfinished(entry.filename().string(), name)) found.push_back(entry);
  }
  for (const std::filesystem::path& file : found) {
    const Descriptor opened(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_written = opened.get() >= 0 && !lock(opened.get(), LOCK_EX | LOCK_NB);
    if (!is_written) std::filesystem::remove(file, status);
  }
}

std::string digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {hash.high64, hash.low64}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 0xf];
  }
  return text;
}

}  // namespace morton
