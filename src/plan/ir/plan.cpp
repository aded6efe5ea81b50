// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/plan.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace morton::plan {

ValueId memory_root(const Values& values, ValueId id) {
  while (values[id].memory_of) id = values[id].memory_of;
  return id;
}

KernelLaunch launch_of(const Step& step) {
  const KernelLaunch* launch = step.launch();
  return launch == nullptr ? KernelLaunch() : *launch;
}

bool shares_launch(const Step& step) {
  std::set<std::string_view> names;
  return step.launch() != nullptr && std::ranges::any_of(step.arguments, [&](const auto& argument) {
           return !names.insert(argument.name).second;
         });
}

bool is_on_host(const Step& step) {
  const LibraryCall* call = step.library_call();
  return call != nullptr && call->place == LibraryCall::Place::host;
}

double estimated_us(const Plan& plan) {
  double transfers_us = 0.0;
  Indexed<DeviceIndex, double> devices_us(plan.devices.size(), 0.0);
  for (const Step& step : plan.steps) {
    double& sum = step.transfer() != nullptr ? transfers_us : devices_us[step.device];
    sum += step.cost.estimated_us;
  }
  return transfers_us + *std::max_element(devices_us.begin(), devices_us.end());
}

std::string_view name_of(PlannedBlock::Kind kind) {
  switch (kind) {
    case PlannedBlock::Kind::weights:
      return "weights";
    case PlannedBlock::Kind::streamed:
      return "streamed";
    case PlannedBlock::Kind::state:
      return "state";
    case PlannedBlock::Kind::activations:
      return "activations";
    case PlannedBlock::Kind::workspace:
      return "workspace";
    case PlannedBlock::Kind::loading:
      return "loading";
  }
  return "";
}

std::int64_t block_bytes(const Plan& plan, PlannedBlock::Kind kind) {
  std::int64_t bytes = 0;
  for (const auto& block : plan.blocks) {
    if (block.kind == kind) bytes += block.bytes;
  }
  return bytes;
}

std::int64_t weight_memory(const Plan& plan) {
  return block_bytes(plan, PlannedBlock::Kind::weights) +
         block_bytes(plan, PlannedBlock::Kind::streamed);
}

std::int64_t streamed_bytes(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Value& value : plan.values) {
    if (value.is_streamed && !value.memory_of) bytes += value.bytes;
  }
  return bytes;
}

}  // namespace morton::plan
