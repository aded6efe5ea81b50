// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "api/compile/kernel_trial.hpp"
#include "base/rooms.hpp"
#include "device/open/refused_kernels.hpp"
#include "plan/ir/plan.hpp"

namespace morton::api {

/// Kernels that the device's driver refused while a model was compiled. They are left out, the
/// model is planned anew, and the cache folder remembers them for this device and driver. So it is
/// for one device; over several, and of kernels that other shapes need later, a refusal is an
/// error.
class DriverRefusals {
 public:
  explicit DriverRefusals(const Job& job) : job_(job) {}

  /// Notes which kernel each function of the plans is of.
  void watch(const Plan& plan);
  /// Leaves the kernels of the error out; throws it where none can be: one that is asked for by
  /// name, one that was left out before, or too many. Where several share a launch, all have
  /// launches of their own first.
  void leave_out(const RefusedKernels& error);
  /// Throws where planning fails for want of what was left out; `error` is what planning threw.
  void explain(const UnsupportedError& error) const;
  /// The job without what is left out.
  [[nodiscard]] Job without() const;
  /// Adds to the plan why launches are apart, where they are.
  void note_in(Plan& plan) const;
  /// Adds to the report what was left out, and keeps it in the device's cache folder.
  void finish(CompiledState& state) const;

 private:
  struct Refusal {
    [[nodiscard]] std::string line() const;

    SuspectKernel kernel;
    std::string why;
  };

  [[nodiscard]] std::string history() const;

  const Job& job_;
  std::map<std::string, SuspectKernel> kernels_;  ///< by function
  std::set<std::string> shared_launches_;         ///< functions
  std::optional<Refusal> refused_together_;       ///< why all launches are apart now
  std::vector<Refusal> refusals_;
};

}  // namespace morton::api
