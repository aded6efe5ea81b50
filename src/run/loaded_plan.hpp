// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/opencl_device.hpp"
#include "plan/plan.hpp"

namespace morton {

/// A plan on its device: programs built, constants uploaded. Immutable once loaded; shared between
/// runners.
class LoadedPlan {
 public:
  /// Builds or finds the programs, packs and uploads the constants, computes what derives from
  /// them. Throws DeviceError.
  LoadedPlan(Plan plan, std::shared_ptr<OpenClDevice> device);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] OpenClDevice& device() const { return *device_; }
  [[nodiscard]] const std::shared_ptr<OpenClDevice>& shared_device() const { return device_; }
  [[nodiscard]] const cl::Program& program_of(int instance) const;
  /// Memory of a constant or derived value.
  [[nodiscard]] const cl::Buffer& constant(int value) const;
  [[nodiscard]] const BuildReport& builds() const { return builds_; }
  [[nodiscard]] double upload_ms() const { return upload_ms_; }

  /// True when some program came from source and is not on disk: it should be stored after a run.
  [[nodiscard]] bool wants_storing() const;
  /// Writes those programs; call after every step has run. Returns what went wrong, if anything.
  [[nodiscard]] std::vector<std::string> store_programs();

 private:
  void build_programs();
  void upload_constants();
  void run_load_steps();

  Plan plan_;
  std::shared_ptr<OpenClDevice> device_;
  BuildReport builds_;
  std::vector<std::shared_ptr<CachedProgram>> programs_;
  std::vector<int> program_of_instance_;
  std::vector<Block> blocks_;
  std::vector<cl::Buffer> constants_;  ///< by value; empty handles for others
  double upload_ms_ = 0.0;
};

}  // namespace morton
