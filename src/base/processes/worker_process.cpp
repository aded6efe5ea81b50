// SPDX-License-Identifier: Apache-2.0
#include "base/processes/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace morton {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_until(Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - Clock::now()).count();
}

}  // namespace

void WorkerProcess::start() {
  // Sockets, since a write to one whose reader is gone need not raise SIGPIPE.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw DeviceError(std::string("no connection for a worker process: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : command_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int problem =
      ::posix_spawnp(&child_, arguments.front(), &actions, nullptr, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (problem != 0) {
    ::close(ends[0]);
    child_ = -1;
    throw DeviceError("the worker process '" + command_.front() +
                      "' cannot be started: " + std::strerror(problem));
  }
  to_child_ = from_child_ = ends[0];
  received_.clear();
}

bool WorkerProcess::send(const std::string& line) const {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t sent = ::send(to_child_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

WorkerProcess::Answer WorkerProcess::ask(const Json& request, double timeout_ms) {
  if (command_.empty()) throw UsageError("no command for the worker process is given");
  if (child_ <= 0) start();
  if (!send(request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n")) {
    return reap();
  }
  const auto end =
      Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(timeout_ms * 1e3));
  for (;;) {
    if (const std::size_t at = received_.find('\n'); at != std::string::npos) {
      Json json = Json::parse(received_.substr(0, at), nullptr, false);
      received_.erase(0, at + 1);
      if (json.is_discarded()) {
        stop();
        return {Answer::Kind::ended, {}, "answered with what is no JSON"};
      }
      return {Answer::Kind::line, std::move(json), ""};
    }
    const double left_ms = milliseconds_until(end);
    if (left_ms <= 0.0) {
      stop();
      return {Answer::Kind::too_late,
              {},
              "did not end within " + std::to_string(static_cast<int>(timeout_ms / 1e3)) + " s"};
    }
    pollfd waiting{from_child_, POLLIN, 0};
    // A long wait in parts, so that the number of milliseconds fits an int.
    if (::poll(&waiting, 1, static_cast<int>(std::min(left_ms, 1e6)) + 1) <= 0) continue;
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(from_child_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return reap();
    received_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

WorkerProcess::Answer WorkerProcess::reap() {
  ::close(to_child_);
  to_child_ = from_child_ = -1;
  int state = 0;
  while (::waitpid(child_, &state, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (WIFSIGNALED(state)) {
    const int signal = WTERMSIG(state);
    return {Answer::Kind::ended,
            {},
            "was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")"};
  }
  return {Answer::Kind::gave_up, {}, "ended with status " + std::to_string(WEXITSTATUS(state))};
}

void WorkerProcess::finish() {
  if (child_ > 0) static_cast<void>(reap());
}

void WorkerProcess::stop() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  static_cast<void>(reap());
}

}  // namespace morton
