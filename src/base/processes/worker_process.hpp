// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/for_tools.hpp"

namespace morton {

/// A process that does what can end a process or takes a lock of its own (a driver's compiler, a
/// wrong kernel). It reads requests from its standard input and writes answers to its standard
/// output, one JSON object on a line; what drivers print goes to its standard error, which is this
/// process's. Not thread-safe.
class WorkerProcess {
 public:
  /// `command` is the program (searched for in PATH) and its arguments.
  explicit WorkerProcess(std::vector<std::string> command) : command_(std::move(command)) {}
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess() { stop(); }

  struct Answer {
    enum class Kind : std::uint8_t {
      line,      ///< `json` is the answer
      ended,     ///< a signal ended the process, or it answered nonsense; `how` says which
      gave_up,   ///< it ended itself: a driver does where it cannot write a file, for one
      too_late,  ///< no answer in time: the process was ended
    } kind = Kind::line;
    Json json;
    std::string how;
  };
  /// Sends a line and waits for one, starting the process where none runs. Throws DeviceError where
  /// it cannot be started.
  [[nodiscard]] MORTON_FOR_TOOLS Answer ask(const Json& request, double timeout_ms);
  [[nodiscard]] bool is_running() const { return child_ > 0; }
  /// Lets the process end by itself, since its input ends, and waits for it, if one runs.
  MORTON_FOR_TOOLS void finish();
  /// Ends the process at once, if one runs.
  MORTON_FOR_TOOLS void stop();

 private:
  void start();
  [[nodiscard]] bool send(const std::string& line) const;
  /// Closes the pipes, waits for the process and says how it ended: "was ended by signal 11
  /// (Segmentation fault)".
  [[nodiscard]] Answer reap();

  std::vector<std::string> command_;
  pid_t child_ = -1;
  int to_child_ = -1, from_child_ = -1;
  std::string received_;
};

}  // namespace morton
