// SPDX-License-Identifier: Apache-2.0
#include "reproduce/running/child_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/stopwatch.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// Two pipes of a child, of which this process reads.
class OutputPipes {
 public:
  OutputPipes() {
    for (std::array<int, 2>& ends : ends_) {
      if (::pipe2(ends.data(), O_CLOEXEC) == 0) continue;
      const int problem = errno;
      close_all();
      throw DeviceError(fmt::format("a child process has no pipe: {}", std::strerror(problem)));
    }
  }
  OutputPipes(const OutputPipes&) = delete;
  OutputPipes& operator=(const OutputPipes&) = delete;
  ~OutputPipes() { close_all(); }

  [[nodiscard]] int for_child(std::size_t i) const { return ends_.at(i)[1]; }
  void close_childs_ends() {
    for (std::array<int, 2>& ends : ends_) close(ends[1]);
  }

  /// Reads into both texts; false where neither pipe has a writer any more.
  bool read_for(double milliseconds, std::array<std::string*, 2> texts) {
    std::array<pollfd, 2> waiting{};
    for (std::size_t i = 0; i < 2; ++i) waiting[i] = {ends_[i][0], POLLIN, 0};
    if (ends_[0][0] < 0 && ends_[1][0] < 0) return false;
    (void)::poll(waiting.data(), waiting.size(), static_cast<int>(milliseconds) + 1);
    for (std::size_t i = 0; i < 2; ++i) {
      if ((waiting[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_some(i, *texts[i]);
    }
    return true;
  }

 private:
  void read_some(std::size_t i, std::string& text) {
    std::array<char, 65536> part{};
    const ssize_t got = ::read(ends_[i][0], part.data(), part.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
      close(ends_[i][0]);
    } else {
      text.append(part.data(), static_cast<std::size_t>(got));
    }
  }
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  void close_all() {
    for (std::array<int, 2>& ends : ends_) {
      for (int& end : ends) close(end);
    }
  }

  std::array<std::array<int, 2>, 2> ends_{{{-1, -1}, {-1, -1}}};
};

pid_t start_child(const std::vector<std::string>& arguments, const OutputPipes& pipes) {
  std::vector<std::string> words{"morton"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipes.for_child(0), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, pipes.for_child(1), STDERR_FILENO);
  pid_t child = 0;
  const int problem =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem == 0) return child;
  throw DeviceError(fmt::format("a child process cannot be started: {}", std::strerror(problem)));
}

}  // namespace

ChildOutput run_child_for(const std::vector<std::string>& arguments, double timeout_ms) {
  OutputPipes pipes;
  const Stopwatch watch;
  const pid_t child = start_child(arguments, pipes);
  pipes.close_childs_ends();
  ChildOutput output;
  constexpr double kLookMs = 50.0;
  int state = 0;
  pid_t ended = 0;
  // What the child has started may hold its pipes open, so the child itself is looked at too.
  while (ended == 0) {
    const double left_ms = timeout_ms - watch.milliseconds();
    if (left_ms <= 0.0) {
      output.too_late = true;
      ::kill(child, SIGKILL);
      while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    const bool is_open =
        pipes.read_for(std::min(left_ms, kLookMs), {&output.standard, &output.error});
    ended = ::waitpid(child, &state, is_open ? WNOHANG : 0);
  }
  // What is in the pipes still, at most for a moment: whoever else holds them may never end.
  for (const Stopwatch rest;
       rest.milliseconds() < kLookMs && pipes.read_for(1.0, {&output.standard, &output.error});) {
  }
  output.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  output.how = output.too_late      ? "took too long"
               : WIFSIGNALED(state) ? fmt::format("was ended by signal {}", WTERMSIG(state))
                                    : fmt::format("ended with status {}", output.status);
  return output;
}

}  // namespace morton::cli
