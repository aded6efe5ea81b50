// SPDX-License-Identifier: Apache-2.0
#include "run/later_starts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "morton/error.hpp"
#include "morton/tools/cache.hpp"

extern char** environ;

namespace morton::cli {
namespace {

/// Of 19, the lowest.
constexpr int kLowPriority = 15;

enum class Wish : std::uint8_t { on, off };

Wish background_wish() {
  const char* value = std::getenv("MORTON_BACKGROUND");
  const std::string_view wish = value == nullptr ? "" : value;
  if (wish == "off") return Wish::off;
  if (wish.empty() || wish == "on") return Wish::on;
  throw UsageError(fmt::format("MORTON_BACKGROUND: expected on or off, got '{}'", wish));
}

/// The words of this process's command; none where the system does not tell.
std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// The file of a lock in the cache folder; of the folder's one lock without a name.
std::string lock_file(const std::string& cache_dir, const std::string& name) {
  return cache_folder_named(cache_dir) + "/background" + (name.empty() ? "" : "." + name) + ".lock";
}

/// Opens the file, which a child inherits, and with it the lock; -1, with errno, where it cannot.
int open_lock(const std::string& path) {
  return ::open(path.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW, 0600);  // NOLINT: not O_CLOEXEC
}

/// Whether the file still has the name: who held its lock before may have removed it.
bool has_name(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// The locked file; -1, with errno, where another process holds it or there is none.
int take_lock(const std::string& path) {
  for (;;) {
    const int file = open_lock(path);
    if (file < 0) return -1;
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      ::close(file);
      errno = why;
      return -1;
    }
    if (has_name(file, path)) return file;
    ::close(file);
  }
}

/// This process's open files but the standard streams.
std::vector<int> open_files() {
  std::vector<int> files;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return files;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    int file = -1;
    std::from_chars(name.data(), name.data() + name.size(), file);
    if (file > STDERR_FILENO && file != ::dirfd(folder)) files.push_back(file);
  }
  ::closedir(folder);
  return files;
}

/// Starts the words as a process without a terminal, which gets `kept` and no other file of this
/// process; 0, or the error's number.
int start_apart(std::vector<std::string>& words, int kept) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Closing at exec would come a moment after this function returns.
  for (const int file : open_files()) {
    if (file != kept) ::posix_spawn_file_actions_addclose(&actions, file);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
#ifdef POSIX_SPAWN_SETSID
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
#endif
  pid_t child = 0;
  const int status =
      ::posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (status == 0) {
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(child), kLowPriority));
  }
  return status;
}

}  // namespace

void check_background_wish() { static_cast<void>(background_wish()); }

std::string build_for_later_starts(const std::string& place, const std::string& cache_dir) {
  if (background_wish() == Wish::off) {
    return "kernels of its own are not built (MORTON_BACKGROUND=off)";
  }
  std::vector<std::string> words = own_command();
  if (words.empty()) return "kernels of its own are built by --start ready";
  const std::string why = why_cache_keeps_nothing(cache_dir);
  if (!why.empty()) return "kernels of its own could not be kept: " + why;
  const std::string path = lock_file(cache_dir, place);
  const int lock = take_lock(path);
  if (lock < 0 && errno == EWOULDBLOCK) {
    return "another process builds this model's kernels for later starts";
  }
  if (lock < 0) return fmt::format("none are built for later starts: {}", std::strerror(errno));
  const auto command = std::find(words.begin() + 1, words.end(), "run");
  words.insert(command == words.end() ? command : command + 1, "--in-background=" + place);
  const int status = start_apart(words, lock);
  if (status != 0) ::unlink(path.c_str());
  ::close(lock);
  if (status != 0) {
    return fmt::format("no process builds kernels of its own: {}", std::strerror(status));
  }
  return "kernels of its own are built in the background for later starts";
}

BackgroundTurn::BackgroundTurn(const std::string& place, const std::string& cache_dir)
    : place_(lock_file(cache_dir, place)) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool is_place = !place.empty() && place.find_first_not_of(kDigits) == std::string::npos;
  if (!is_place) throw UsageError("--in-background is for Morton itself");
  const std::string path = lock_file(cache_dir, "");
  turn_ = open_lock(path);
  if (turn_ < 0) throw UsageError(fmt::format("{}: {}", path, std::strerror(errno)));
  // Worker processes may outlive this one.
  for (const int file : open_files()) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  while (::flock(turn_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

BackgroundTurn::~BackgroundTurn() {
  ::unlink(place_.c_str());
  ::close(turn_);
}

}  // namespace morton::cli
