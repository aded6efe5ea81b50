// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/rooms.hpp"

namespace morton::test {

/// This process's variables, those of `variables` in place of or beside them.
inline std::vector<std::string> environment_with(
    const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

/// As posix_spawn takes them, a null at the end.
inline std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct ChildResult {
  int exit_status = -1;  ///< -1 when a signal ended it
  std::string output;    ///< stdout and stderr together
};

/// Runs a program, which is looked for in PATH where its name has no slash, and waits for it. The
/// first argument is the name that it sees of itself.
inline ChildResult run_program(const std::string& program, std::vector<std::string> arguments,
                               std::vector<std::string> environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int spawned =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers_of(arguments).data(),
                     pointers_of(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (spawned != 0) {
    ::close(ends[0]);
    throw std::runtime_error("no child process: " + program);
  }

  ChildResult result;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof(part))) > 0;) {
    result.output.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

/// Runs the tests that `filter` names in a fresh process of this program, with these variables set
/// (beside those of this process), and waits for it. Tests made for that are named DISABLED_..., so
/// that nothing else runs them.
inline ChildResult run_tests_in_child(const std::string& filter,
                                      const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment = environment_with(variables);
  // Another shard's tests would be none here, and none pass.
  std::erase_if(environment, [](const std::string& text) {
    return text.starts_with("GTEST_TOTAL_SHARDS=") || text.starts_with("GTEST_SHARD_INDEX=");
  });
  return run_program("/proc/self/exe",
                     {"child", "--gtest_filter=" + filter, "--gtest_also_run_disabled_tests"},
                     std::move(environment));
}

}  // namespace morton::test
