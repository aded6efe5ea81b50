// SPDX-License-Identifier: Apache-2.0
#include "run/later_starts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "morton/tools/cache.hpp"

extern char** environ;

namespace morton::cli {
namespace {

/// Of 19, the lowest.
constexpr int kLowPriority = 15;

/// The words of this process's command; none where the system does not tell.
std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// A lock that this process's child keeps until it ends; -1, with errno, where there is none.
int background_lock(const std::string& cache_dir) {
  const std::string path = cache_folder_named(cache_dir) + "/background.lock";
  // A child inherits the file, and with it the lock.
  const int file =
      ::open(path.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW, 0600);  // NOLINT: not O_CLOEXEC
  if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  const int why = errno;
  if (file >= 0) ::close(file);
  errno = why;
  return -1;
}

/// Starts the words as a process without a terminal; 0, or the error's number.
int start_apart(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
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

std::string build_for_later_starts(const std::string& cache_dir) {
  const char* wish = std::getenv("MORTON_BACKGROUND");
  if (wish != nullptr && std::string_view(wish) == "off") {
    return "kernels of its own are not built (MORTON_BACKGROUND=off)";
  }
  std::vector<std::string> words = own_command();
  if (words.empty()) return "kernels of its own are built by --start ready";
  const int lock = background_lock(cache_dir);
  if (lock < 0 && errno == EWOULDBLOCK) return "another process builds kernels for later starts";
  if (lock < 0) return fmt::format("none are built for later starts: {}", std::strerror(errno));
  const auto command = std::ranges::find(words, "run");
  words.insert(command == words.end() ? command : command + 1, "--prepare");
  const int status = start_apart(words);
  ::close(lock);
  if (status != 0) {
    return fmt::format("no process builds kernels of its own: {}", std::strerror(status));
  }
  return "kernels of its own are built in the background for later starts";
}

}  // namespace morton::cli
