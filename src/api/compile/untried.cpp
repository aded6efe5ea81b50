// SPDX-License-Identifier: Apache-2.0
#include "api/compile/untried.hpp"

#include <chrono>
#include <utility>

#include "api/compile/loading.hpp"
#include "api/compile/other_shapes.hpp"
#include "plan/make_plan.hpp"

namespace morton::api {

std::shared_ptr<CompiledState> compile_untried(const Job& job, const Device& device) {
  using Clock = std::chrono::steady_clock;
  auto state = std::make_shared<CompiledState>(state_before_planning(*job.subject, {device}));
  const auto start = Clock::now();
  const DeviceInfo& info = device.implementation()->info();
  Plan plan = make_plan(job.subject->graph(), info, *job.policy);
  OtherShapes others = prepare_other_shapes(job, info, plan);
  state->policy = job.policy;
  state->built = others.built;
  state->also = others.chosen;
  state->report.kernels_for_other_shapes = others.kernels;
  const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  state->report.plan_ms = job.policy_ms + elapsed.count();
  load(std::move(plan), std::move(others.plans), job.observer, *state);
  return state;
}

}  // namespace morton::api
