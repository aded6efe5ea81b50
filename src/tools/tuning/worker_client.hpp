// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/processes/worker_process.hpp"
#include "base/rooms.hpp"
#include "tools/tuning/trial.hpp"

namespace morton {
struct KernelBuild;
struct KernelCheck;
struct KernelText;
}  // namespace morton

namespace morton::tools {

/// Where a worker measures.
struct WorkerSetting {
  std::string device;  ///< as OpenClDevice::open takes it
  std::vector<std::string> catalogue_files;
  std::uint64_t seed = 1;  ///< of the operands
};

/// A worker's answer about a kernel that it was to check.
[[nodiscard]] Json to_json(const KernelCheck& check);
[[nodiscard]] Json to_json(const WorkerSetting& setting);
[[nodiscard]] WorkerSetting worker_setting_from(const JsonReader& reader);

/// Candidates measured by a worker process, which is started again when one has ended it.
class WorkerClient {
 public:
  WorkerClient(std::vector<std::string> command, WorkerSetting setting, double timeout_ms)
      : process_(std::move(command)), setting_(std::move(setting)), timeout_ms_(timeout_ms) {}

  /// Starts the process, if none runs, and returns the facts of its device. Throws what opening the
  /// device throws there, as DeviceError.
  const DeviceInfo& open();
  /// A candidate that ends the process is tried once more in a new one, since something else may
  /// have ended it; one that gives no answer in time is not. A slow kernel is no wrong one: the
  /// time is that of the constructor and 100 runs of `expected_ms`. Where the process ended itself,
  /// as drivers do that cannot write a file, the candidate is impossible here, not refused for
  /// good.
  [[nodiscard]] TrialOutcome measure(const TrialRequest& request, double expected_ms);
  /// Builds the text there (build_kernel). A compiler that ends the process, or gives no answer in
  /// time, has not built it.
  [[nodiscard]] KernelBuild build(const KernelText& kernel);
  /// Checks a kernel there (check_kernel). One that a signal ends, or that gives no answer in time,
  /// is wrong; one whose process ended itself could not be checked.
  [[nodiscard]] KernelCheck check(const std::string& kernel);

 private:
  WorkerProcess process_;
  WorkerSetting setting_;
  double timeout_ms_;
  DeviceInfo device_;
};

}  // namespace morton::tools
