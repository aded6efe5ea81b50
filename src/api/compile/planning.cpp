// SPDX-License-Identifier: Apache-2.0
#include "api/compile/planning.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "api/compile/interim.hpp"
#include "base/error.hpp"
#include "plan/make_plan.hpp"
#include "plan/split/share_rows.hpp"
#include "plan/split/split.hpp"

namespace morton::api {

ModelAtShapes part_of(const Job& job, std::int64_t rows) {
  ModelAtShapes part = job.subject->with_rows(rows);
  job.observer.say(print(part.report()));
  return part;
}

Plan planned_for(const Model& model, const std::vector<std::string>& device_jsons,
                 const CompileOptions& options) {
  if (device_jsons.empty()) throw UsageError("plan: no device is given");
  check_weights(options.weights, device_jsons.size());
  std::vector<DeviceInfo> devices;
  for (const std::string& text : device_jsons) devices.push_back(device_info_from_text(text));
  const Job job = job_of(model, options, store_of(options), devices.front());
  if (const Message why = why_no_interim_plan(model, options, devices.size()); !why.empty()) {
    throw UsageError(setting("start", "at_once") + ": " + why);
  }
  const bool is_interim = options.start != CompileOptions::Start::ready;
  Plan plan = devices.size() > 1 ? split_planned(job, devices, estimated_rows(job, devices))
                                 : make_plan(job.subject->graph(), devices.front(),
                                             is_interim ? job.policy->generic() : *job.policy);
  std::ranges::copy(job.too_long, std::back_inserter(plan.considered));
  return plan;
}

std::int64_t equal_share(std::int64_t batch, std::size_t devices) {
  const auto count = static_cast<std::int64_t>(devices);
  return std::max<std::int64_t>(1, (batch + count - 1) / count);
}

void check_weights(const std::vector<double>& weights, std::size_t devices) {
  if (weights.empty() || weights.size() == devices) return;
  const bool is_one = devices == 1;
  throw UsageError("split: " + std::to_string(weights.size()) + " weights are given for " +
                   std::to_string(devices) + (is_one ? " device" : " devices"));
}

std::vector<std::int64_t> estimated_rows(const Job& job, const std::vector<DeviceInfo>& devices) {
  const std::int64_t batch = job.subject->batch();
  if (!job.weights.empty()) return share_rows(batch, job.weights);
  const std::int64_t rows = equal_share(batch, devices.size());
  const ModelAtShapes part = part_of(job, rows);
  const KernelPolicy policy = job.policy->for_one_of_several_devices();
  std::vector<double> speeds;
  for (const DeviceInfo& device : devices) {
    const Plan plan = make_plan(part.graph(), device, policy);
    speeds.push_back(static_cast<double>(rows) / estimated_us(plan));
  }
  return share_rows(batch, speeds);
}

Plan split_planned(const Job& job, const std::vector<DeviceInfo>& devices,
                   const std::vector<std::int64_t>& rows) {
  std::vector<SplitPart> parts;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    parts.push_back({part_of(job, rows[device]).graph(), devices[device], rows[device]});
  }
  return make_split_plan(job.subject->graph(), parts, *job.policy);
}

}  // namespace morton::api
