// SPDX-License-Identifier: Apache-2.0
#include "device/plan_memory.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "run/guarded_memory.hpp"

namespace morton::test {

void poison(Runner& runner) {
  const Plan& plan = runner.loaded().plan();
  for (const ValueId v : plan.values.ids()) {
    if (is_fixed(plan.values[v])) continue;
    const auto bytes = runner.map(v, MappedBuffer::Access::overwrite);
    std::fill(bytes.begin(), bytes.end(), kPoison);
    runner.unmap();
  }
}

void share_program(std::span<Plan* const> plans) {
  Indexed<InstanceId, InstanceSource> all;
  std::map<std::string, InstanceId> known;
  for (Plan* plan : plans) {
    for (const auto& instance : plan->instances) {
      if (known.emplace(instance.key, all.next_id()).second) all.add(instance);
    }
  }
  const auto ids = all.ids();
  const std::vector<InstanceId> program(ids.begin(), ids.end());
  for (Plan* plan : plans) {
    for (auto* steps : {&plan->load_steps, &plan->steps}) {
      for (Step& step : *steps) {
        auto* launch = std::get_if<KernelLaunch>(&step.action);
        if (launch != nullptr) launch->instance = known.at(plan->instances[launch->instance].key);
      }
    }
    plan->instances = all;
    plan->programs.clear();
    if (!program.empty()) plan->programs.push_back(program);
  }
}

}  // namespace morton::test
