// SPDX-License-Identifier: Apache-2.0
#include "device/workers/private_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/files/folder.hpp"

namespace morton::device {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrivateFolder = "morton-compile-";
constexpr std::string_view kFilledIn = "XXXXXX";

/// The process in the name of a private folder; 0 for any other name.
pid_t process_in(std::string_view name) {
  if (!name.starts_with(kPrivateFolder)) return 0;
  name.remove_prefix(kPrivateFolder.size());
  pid_t process = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, problem] = std::from_chars(name.data(), end, process);
  const bool fits = problem == std::errc() && rest != end && *rest == '-' &&
                    static_cast<std::size_t>(end - rest) == 1 + kFilledIn.size();
  return fits && process > 0 ? process : 0;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

/// The folder, locked for this process; -1 where another has the lock, or where it is no folder of
/// this user.
int locked_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat facts {};
  const bool is_own = ::fstat(file, &facts) == 0 && facts.st_uid == ::geteuid();
  if (is_own && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  ::close(file);
  return -1;
}

}  // namespace

PrivateFolder::PrivateFolder() {
  const std::string parent = fs::temp_directory_path().string();
  remove_left_folders(parent);
  const std::string name =
      std::string(kPrivateFolder) + std::to_string(::getpid()) + "-" + std::string(kFilledIn);
  // A process of another container, which cannot see this one, sees the lock; one that came between
  // has removed the folder.
  std::error_code status;
  do {
    std::string pattern = (fs::path(parent) / name).string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw DeviceError(pattern + ": cannot create the folder: " + std::strerror(errno));
    }
    path_ = pattern;
    lock_ = locked_folder(path_);
  } while (!fs::exists(path_, status));
}

PrivateFolder::~PrivateFolder() {
  std::error_code status;
  fs::remove_all(path_, status);
  if (lock_ >= 0) ::close(lock_);
}

void remove_left_folders(const std::string& parent) {
  std::error_code status;
  std::vector<fs::path> left;
  for (const fs::path& entry : entries_of(parent, status)) {
    const pid_t process = process_in(entry.filename().string());
    if (process > 0 && is_gone(process)) left.push_back(entry);
  }
  for (const fs::path& folder : left) {
    const int lock = locked_folder(folder);
    if (lock < 0) continue;
    fs::remove_all(folder, status);
    ::close(lock);
  }
}

}  // namespace morton::device
