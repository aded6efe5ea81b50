// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/emit.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "plan/cost/cost.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/lower/argument_binding.hpp"
#include "plan/lower/in_place.hpp"
#include "plan/lower/join_launches.hpp"
#include "plan/lower/library_step.hpp"
#include "plan/lower/memory.hpp"
#include "plan/lower/reasons.hpp"
#include "plan/lower/streaming.hpp"
#include "plan/lower/traffic.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/instance_spec.hpp"
#include "source/work_program.hpp"

namespace morton::plan {
namespace {

/// A program for each kernel, in the order of their keys: plans, models and processes share them.
void group_programs(Plan& plan) {
  const auto ids = plan.instances.ids();
  std::vector<InstanceId> order(ids.begin(), ids.end());
  std::sort(order.begin(), order.end(), [&](InstanceId a, InstanceId b) {
    return plan.instances[a].key < plan.instances[b].key;
  });
  plan.programs.clear();
  for (const InstanceId instance : order) plan.programs.push_back({instance});
}

/// Turns a schedule into a plan: instances, launch sizes, arguments.
class Emitter {
 public:
  Emitter(const Schedule& schedule, const CandidateLists& candidates, const PlanContext& context)
      : schedule_(schedule), candidates_(candidates), context_(context) {}

  Plan run() {
    plan_.devices = {PlannedDevice{fingerprint(context_.device), peaks_text(context_.device)}};
    plan_.values = schedule_.values;
    plan_.inputs = schedule_.inputs;
    plan_.outputs = schedule_.outputs;
    plan_.states = schedule_.states;
    for (const auto& value : plan_.values) check_index_range(value);
    std::vector<EmittedStep> load_steps, steps;
    for (const auto& kernel : schedule_.kernels) {
      (kernel.once ? load_steps : steps).push_back(make_step(kernel));
    }
    if (const SharedLaunches shared = shared_launches(); shared.small || shared.equal) {
      steps = join_launches(std::move(steps), plan_.values, context_.device, shared);
    }
    for (EmittedStep& made : load_steps) plan_.load_steps.push_back(numbered(made));
    for (EmittedStep& made : steps) plan_.steps.push_back(numbered(made));
    group_programs(plan_);
    if (const auto limit = context_.options.weight_limit_bytes) {
      place_in_turns(plan_, context_.device, *limit);
    } else {
      place_memory(plan_, context_.device);
    }
    plan_.considered = considered(candidates_, context_.tasks);
    for (const auto& list : candidates_) {
      add_left_out_by_self_tests(list->rejections, plan_.left_out);
    }
    return std::move(plan_);
  }

 private:
  static void check_index_range(const Value& value) {
    if (elements_of(value.arrangement) > std::numeric_limits<std::int32_t>::max()) {
      throw UnsupportedError("plan: '" + value.name + "' has " +
                             std::to_string(elements_of(value.arrangement)) +
                             " elements; kernels index with 32 bits");
    }
  }

  const Value& value_at(ValueId id) const { return plan_.values[id]; }

  InstanceSpec make_spec(const ScheduledKernel& kernel) const {
    SpecPlaces places;
    for (const auto& [role, value] : kernel.values) {
      places.operands.emplace(role, value_at(value).arrangement);
    }
    for (const ValueId side : kernel.sides) {
      places.sides.push_back(
          {value_at(side).arrangement, value_at(side).kind == Value::Kind::constant});
    }
    return instance_spec(kernel.choice, places, context_.device);
  }

  /// True when the kernel writes the memory of a value that it reads.
  bool is_in_place(const ScheduledKernel& kernel) const {
    const MemoryRange dst = range_of(plan_.values, kernel.values.at("dst"));
    const auto same = [&](ValueId value) { return overlap(range_of(plan_.values, value), dst); };
    return std::any_of(
               kernel.values.begin(), kernel.values.end(),
               [&](const auto& bound) { return bound.first != "dst" && same(bound.second); }) ||
           std::any_of(kernel.sides.begin(), kernel.sides.end(), same);
  }

  SharedLaunches shared_launches() const {
    using Launches = PlanOptions::Launches;
    const Launches wanted = context_.options.launches;
    const bool renews = !context_.tasks.updates.empty();
    // A processor's few cores are seldom idle, and each stack is one more text to compile.
    const bool is_cpu = context_.device.kind == DeviceInfo::Kind::cpu;
    const bool equal = wanted == Launches::joined || (wanted == Launches::automatic && !is_cpu);
    return {wanted == Launches::joined || (wanted == Launches::automatic && renews),
            equal && !context_.policy.is_generic(), context_.options.built.get()};
  }

  /// The step with its kernel among the plan's instances.
  Step numbered(EmittedStep& made) {
    auto* launch = std::get_if<KernelLaunch>(&made.step.action);
    if (launch != nullptr) launch->instance = instance_of(made.source);
    return std::move(made.step);
  }

  /// What the kernel computes, as a constant that it reads. Arrays that it has no use for are its
  /// operand.
  ScheduledKernel with_program(ScheduledKernel kernel, const InstanceSpec& spec) {
    if (const auto operand = kernel.values.find("src0"); operand != kernel.values.end()) {
      for (std::size_t side = kernel.sides.size(); side + 1 < kWorkArrays; ++side) {
        kernel.values.emplace(side_name(side), operand->second);
      }
    }
    kernel.values["work"] = plan_.values.add(work_value(kernel.choice.name + ":work", spec));
    return kernel;
  }

  EmittedStep make_step(ScheduledKernel kernel) {
    const KernelChoice& choice = kernel.choice;
    if (!choice.entry->call.library.empty()) {
      Step step = library_step(kernel, plan_.values, context_.device);
      step.reason = reason_of(kernel, candidates_);
      return {std::move(step), std::nullopt, {}};
    }
    InstanceSpec spec = make_spec(kernel);
    spec.in_place = is_in_place(kernel);
    const std::int64_t elements = elements_of(value_at(kernel.values.at("dst")).arrangement);
    const Environment names =
        entry_environment(*choice.entry, spec.problem, spec.tunables, context_.device, elements);
    Step step;
    const LaunchSize size = launch_size(*choice.entry, names, context_.device);
    step.action = KernelLaunch{{}, size.global, size.local};
    spec.local.assign(size.local.begin(), size.local.end());
    step.name = choice.name;
    step.in_place = spec.in_place;
    step.kernel = choice.entry->name;
    step.problem = print(spec.problem);
    step.tuned_as = TunedProblem::of(*choice.bound);
    InstanceSource source = generate(spec);
    if (choice.entry->takes_work()) kernel = with_program(std::move(kernel), spec);
    ArgumentBinding(plan_.values, context_.device)
        .bind(kernel, source, argument_values(spec), step);
    const Shape& dst = value_at(kernel.values.at("dst")).arrangement.tensor_shape;
    step.cost.flop =
        choice.entry->cost.flop.evaluate(names) + spec.problem.epilogue.flop() * element_count(dst);
    step.cost.work = operations_of(choice.entry->cost.work, *choice.entry, spec.problem, names);
    const Traffic traffic = traffic_of(kernel, plan_.values);
    step.cost.logical_bytes = traffic.bytes;
    step.cost.footprint_bytes = traffic.footprint_bytes;
    step.cost.estimated_us = choice.estimated_us - choice.building_us;
    step.role = kernel.task ? Step::Role::compute : Step::Role::repack;
    step.tunables = *choice.tunables;
    step.reason = reason_of(kernel, candidates_) + build_note(choice, context_.options.local);
    return {std::move(step), std::move(spec), std::move(source)};
  }

  InstanceId instance_of(const InstanceSource& source) {
    for (const InstanceId known : plan_.instances.ids()) {
      if (plan_.instances[known].key == source.key) return known;
    }
    return plan_.instances.add(source);
  }

  const Schedule& schedule_;
  const CandidateLists& candidates_;
  const PlanContext& context_;
  Plan plan_;
};

}  // namespace

Value work_value(std::string name, const InstanceSpec& spec) {
  const std::vector<std::int32_t> words = work_program(spec);
  const Shape shape{static_cast<std::int64_t>(words.size())};
  Value value;
  value.name = std::move(name);
  value.kind = Value::Kind::constant;
  value.arrangement = row_major_arrangement(DType::i32, shape);
  value.bytes = bytes_of(value.arrangement);
  value.data = Tensor::allocate(DType::i32, shape);
  std::memcpy(value.data.mutable_data(), words.data(), value.data.bytes());
  return value;
}

Plan emit(const Schedule& schedule, const CandidateLists& candidates, const PlanContext& context) {
  return Emitter(schedule, candidates, context).run();
}

int add_instances(Plan& plan, const Plan& other) {
  std::set<std::string> known;
  for (const InstanceSource& instance : plan.instances) known.insert(instance.key);
  int added = 0;
  for (const InstanceSource& instance : other.instances) {
    if (!known.insert(instance.key).second) continue;
    plan.instances.add(instance);
    ++added;
  }
  if (added > 0) group_programs(plan);
  return added;
}

}  // namespace morton::plan
