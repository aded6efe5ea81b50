// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/library_step.hpp"

#include "base/error.hpp"
#include "catalogue/library.hpp"
#include "plan/cost/cost.hpp"
#include "plan/cost/library_rules.hpp"
#include "plan/lower/traffic.hpp"
#include "plan/policy/kernel_policy.hpp"

namespace morton::plan {

Step library_step(const ScheduledKernel& kernel, const Values& values, const DeviceInfo& device) {
  const KernelChoice& choice = kernel.choice;
  const Problem& problem = choice.bound->problem;
  const auto arrangement_of = [&](ValueId value) -> const Arrangement& {
    return values[value].arrangement;
  };
  Step step;
  step.name = choice.name;
  step.kernel = choice.entry->name;
  using Place = LibraryCall::Place;
  step.action = LibraryCall{runs_on_host(*choice.entry) ? Place::host : Place::device,
                            choice.entry->call.library, choice.entry->call.routine};
  step.problem = print(problem);
  for (const auto& schema : problem.family->operands) {
    const std::string role(schema.name);
    const ValueId value = kernel.values.at(role);
    step.arguments.push_back({role, PassedValue{value}});
    const bool written = schema.role == OperandSchema::Role::output;
    (written ? step.writes : step.reads).push_back(value);
    step.cost.bytes += bytes_of(arrangement_of(value));
  }
  // A routine that adds to its dst has one side operand, what it starts from.
  for (const ValueId side : kernel.sides) {
    step.arguments.push_back({"start", PassedValue{side}});
    step.reads.push_back(side);
    step.cost.bytes += bytes_of(arrangement_of(side));
  }
  for (const auto& [name, extent] : environment_of(problem)) {
    step.arguments.push_back({name, extent});
  }
  const std::int64_t elements = elements_of(arrangement_of(kernel.values.at("dst")));
  step.cost.flop = choice.entry->cost.flop.evaluate(
      entry_environment(*choice.entry, problem, *choice.tunables, device, elements));
  const Traffic traffic = traffic_of(kernel, values);
  step.cost.logical_bytes = traffic.bytes;
  step.cost.footprint_bytes = traffic.footprint_bytes;
  step.cost.estimated_us = choice.estimated_us - choice.building_us;
  return step;
}

}  // namespace morton::plan
