// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/verify_steps.hpp"

#include "base/error.hpp"

namespace morton::plan {

void fail_plan(const std::string& what) { throw InternalError("plan: " + what); }

std::vector<const Step*> all_steps(const Plan& plan) {
  std::vector<const Step*> all;
  for (const auto* steps : {&plan.load_steps, &plan.steps}) {
    for (const Step& step : *steps) all.push_back(&step);
  }
  return all;
}

void verify_images(const Plan& plan) {
  for (const Step* step : all_steps(plan)) {
    for (const StepArgument& argument : step->arguments) {
      const PassedValue* passed = argument.value();
      if (passed == nullptr || passed->image.source != PlannedImage::Source::kept) continue;
      const Value& value = plan.values[passed->id];
      if (is_fixed(value)) continue;
      fail_plan("step " + step->name + " keeps an image of '" + value.name + "', which changes");
    }
  }
}

void verify_launches(const Plan& plan, const Devices& devices) {
  for (const Step* step : all_steps(plan)) {
    const KernelLaunch* launch = step->launch();
    if (launch == nullptr) continue;
    const DeviceInfo& device = devices[step->device];
    std::int64_t work_items = 1;
    for (std::size_t i = 0; i < launch->local.size(); ++i) {
      const std::int64_t global = launch->global[i], local = launch->local[i];
      work_items *= local;
      if (local < 1 || local > device.compute.max_work_item_sizes[i] || global < 1 ||
          global % local != 0) {
        fail_plan("step " + step->name + " has global size " + std::to_string(global) +
                  " and local size " + std::to_string(local) + " in dimension " +
                  std::to_string(i));
      }
    }
    if (work_items > device.compute.max_work_group_size) {
      fail_plan("step " + step->name + " has work-groups of " + std::to_string(work_items) +
                "; the device takes " + std::to_string(device.compute.max_work_group_size));
    }
  }
}

}  // namespace morton::plan
