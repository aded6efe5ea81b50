// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "run/loaded_plan.hpp"

namespace morton::api {

/// Counts the parts of a first start (programs, and the steps of the first run of each plan) for
/// whoever waits for it.
class Countdown {
 public:
  /// `tell` is told the share that is done; it may be empty.
  Countdown(std::function<void(double)> tell, const Plan& plan, const std::vector<Plan>& others);
  void one_done();
  /// The parts that are left need not be done: all is ready.
  void all_done();

 private:
  std::function<void(double)> tell_;
  std::size_t parts_;
  std::size_t done_ = 0;
};

/// What loading took and what the plan takes.
void fill_report(const LoadedPlan& loaded, CompileReport& report);

/// Runs every step once on scratch memory, those of `others` too, so that the driver has compiled
/// what it compiles at the first launch, then writes the programs to disk.
void store_after_a_run(const std::shared_ptr<LoadedPlan>& loaded, std::vector<Plan> others,
                       Countdown& countdown, CompileReport& report);

/// Runs once where programs are to be kept or libraries build theirs, `others` too, and fills in
/// the report. `others` are plans at other extents, of programs that `loaded` has. `log` may be
/// empty.
void finish_loading(const std::shared_ptr<LoadedPlan>& loaded, std::vector<Plan> others,
                    Countdown& countdown, const std::function<void(const Message&)>& log,
                    CompileReport& report);

/// Loads the plan on the state's devices, and fills in its report. `others` as above. Throws
/// UsageError where the state refuses kernels that cannot be kept, and there are some.
void load(Plan plan, std::vector<Plan> others, const Observer& observer, CompiledState& state);

}  // namespace morton::api
