// SPDX-License-Identifier: Apache-2.0
#include "common/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/statistics.hpp"
#include "common/stopwatch.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Reads to the end; the answer is the first line.
ChildAnswer read_answer(int from, const Stopwatch& watch) {
  ChildAnswer answer;
  bool complete = false;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = ::read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (complete) continue;
    answer.line.append(part.data(), static_cast<std::size_t>(got));
    const std::size_t end = answer.line.find('\n');
    complete = end != std::string::npos;
    if (!complete) continue;
    answer.ms = watch.milliseconds();
    answer.line.resize(end);
  }
  if (!complete) answer.line.clear();
  return answer;
}

}  // namespace

ChildAnswer run_child(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& variables) {
  std::vector<std::string> words{"morton"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(variables);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw DeviceError(fmt::format("a child process has no pipe: {}", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const Stopwatch watch;
  pid_t child = 0;
  const int status = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                                   pointers_of(words).data(), pointers_of(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (status != 0) {
    ::close(ends[0]);
    throw DeviceError(fmt::format("a child process cannot be started: {}", std::strerror(status)));
  }
  ChildAnswer answer = read_answer(ends[0], watch);
  ::close(ends[0]);
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0 || answer.line.empty()) {
    const std::string how = WIFSIGNALED(state)
                                ? fmt::format("was ended by signal {}", WTERMSIG(state))
                                : fmt::format("ended with status {}", WEXITSTATUS(state));
    throw DeviceError(fmt::format("the child process `morton {}` {} (its messages stand above)",
                                  arguments.front(), how));
  }
  return answer;
}

std::vector<std::string> worker_command() { return {"/proc/self/exe", "tune-worker"}; }

}  // namespace morton::cli
