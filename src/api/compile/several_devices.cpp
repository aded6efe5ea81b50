// SPDX-License-Identifier: Apache-2.0
#include "api/compile/several_devices.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/compile/loading.hpp"
#include "api/compile/measured_speeds.hpp"
#include "api/compile/planning.hpp"
#include "api/compile/self_test.hpp"
#include "api/inside.hpp"
#include "base/stopwatch.hpp"
#include "plan/split/share_rows.hpp"
#include "run/loaded_plan.hpp"

namespace morton::api {
namespace {

/// Fills in how the devices share the batch.
void share_batch(const Job& job, const std::vector<Device>& devices, CompileReport& report) {
  const std::int64_t batch = job.subject->batch();
  const bool given = !job.weights.empty();
  // What cannot be split is said before anything is measured.
  static_cast<void>(share_rows(batch, std::vector<double>(devices.size(), 1.0)));
  const std::int64_t equal = equal_share(batch, devices.size());
  const auto weights = given ? job.weights : measured_speeds(job, devices, equal);
  const auto rows = share_rows(batch, weights);
  report.weights_source = given ? "given" : "measured, rows a second";
  for (std::size_t device = 0; device < devices.size(); ++device) {
    report.shares.push_back({devices[device].id(), rows[device], weights[device]});
  }
}

}  // namespace

std::shared_ptr<CompiledState> carry_out_over(const std::vector<Device>& devices, const Job& job) {
  auto state = std::make_shared<CompiledState>(state_before_planning(*job.subject, devices));
  share_batch(job, devices, state->report);
  std::vector<DeviceInfo> infos;
  for (const Device& device : devices) infos.push_back(Inside::of(device)->info());
  std::vector<std::int64_t> rows;
  for (const DeviceShare& share : state->report.shares) rows.push_back(share.rows);
  const Stopwatch watch;
  Plan plan = split_planned(job, infos, rows);
  state->report.times.plan_ms = job.policy_ms + watch.milliseconds();
  state->unkept = job.unkept;
  load(std::move(plan), {}, job.observer, *state);
  take_fallbacks(state->loaded->plan(), job.fallback, state->report);
  std::ranges::copy(job.too_long, std::back_inserter(state->report.notes));
  return state;
}

}  // namespace morton::api
