// SPDX-License-Identifier: Apache-2.0
#include "api/compile/untried.hpp"

#include <utility>

#include "api/compile/driver_refusals.hpp"
#include "api/compile/loading.hpp"
#include "api/compile/other_shapes.hpp"
#include "api/inside.hpp"
#include "base/stopwatch.hpp"
#include "plan/make_plan.hpp"

namespace morton::api {
namespace {

/// A job's plans on a device, not loaded yet.
struct Planned {
  std::shared_ptr<CompiledState> state;
  Plan plan;
  std::vector<Plan> others;
};

Planned planned(const Job& job, const Device& device) {
  auto state = std::make_shared<CompiledState>(state_before_planning(*job.subject, {device}));
  const Stopwatch watch;
  const DeviceInfo& info = Inside::of(device)->info();
  Plan plan = make_plan(job.subject->graph(), info, *job.policy);
  OtherShapes others = prepare_other_shapes(job, info, plan);
  state->others.policy = LazyPolicy([policy = job.policy] { return policy; });
  state->others.built = others.built;
  state->others.also = std::move(others.chosen);
  state->log = job.observer.log;
  state->fallback = job.fallback;
  state->unkept = job.unkept;
  state->report.kernels.for_other_shapes = others.kernels;
  state->report.times.plan_ms = job.policy_ms + watch.milliseconds();
  return {std::move(state), std::move(plan), std::move(others.plans)};
}

}  // namespace

std::shared_ptr<CompiledState> compile_untried(const Job& job, const Device& device) {
  for (DriverRefusals refusals(job);;) {
    Planned made;
    try {
      made = planned(refusals.without(), device);
    } catch (const UnsupportedError& error) {
      refusals.explain(error);
      throw;
    }
    refusals.watch(made.plan);
    refusals.note_in(made.plan);
    for (const Plan& other : made.others) refusals.watch(other);
    try {
      load(std::move(made.plan), std::move(made.others), job.observer, *made.state);
      refusals.finish(*made.state);
      return made.state;
    } catch (const RefusedKernels& error) {
      refusals.leave_out(error);
    }
  }
}

}  // namespace morton::api
