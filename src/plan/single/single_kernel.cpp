// SPDX-License-Identifier: Apache-2.0
#include "plan/single/single_kernel.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/lower/emit.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/instance_spec.hpp"
#include "plan/single/example_sizes.hpp"

namespace morton::plan {
namespace {

/// Where an operand lies that its kernel reaches wherever it is. A pack has a result in columns, so
/// that there is something to do.
Arrangement free_arrangement(const Entry& entry, const std::string& role, const TaskTensor& tensor,
                             const View& view) {
  const OperandFormat& format = entry.operands.at(role);
  const bool turns = entry.family == families::pack && (!format.is_any() || role == "dst") &&
                     tensor.shape.size() == view.dimensions.size() && view.grouping;
  if (!turns) return row_major_arrangement(tensor.dtype, tensor.shape);
  const Layout layout = format.is_any() ? Layout::parse("C", view.dimensions)
                                        : layout_of(format, view.dimensions, {});
  const Shape align(view.dimensions.size(), 1);
  return make_arrangement(tensor.dtype, tensor.shape, *view.grouping, layout, align,
                          std::max(format.padding, PaddingContents::finite));
}

SpecPlaces places_of(const KernelChoice& choice, const TaskList& tasks) {
  SpecPlaces places;
  for (const auto& [role, binding] : choice.bound->operands) {
    const TaskTensor& tensor = tensor_at(binding.tensor, tasks, {});
    const Demand& demand = choice.demands.at(role);
    places.operands[role] = demand.kind == Demand::Kind::any
                                ? free_arrangement(*choice.entry, role, tensor, binding.view)
                                : demand.arrangement;
  }
  for (const Side& side : choice.bound->sides) {
    const TaskTensor& tensor = tensor_at(side.tensor, tasks, {});
    places.sides.push_back({row_major_arrangement(tensor.dtype, tensor.shape), true});
  }
  return places;
}

/// Why not, of a condition that no problem changes.
std::optional<Reason> unmet_by_device(const Entry& entry, const PlanContext& context) {
  const Environment facts = environment_of(context.device);
  for (const Expression& condition : entry.require) {
    const auto names = condition.variables();
    const bool of_device = std::ranges::all_of(
        names, [](const std::string& name) { return name.starts_with("device."); });
    if (of_device && condition.evaluate(facts) == 0) return UnmetCondition{condition};
  }
  return std::nullopt;
}

OrReason<SingleKernel> made_kernel(const Entry& entry, const PosedProblem& posed,
                                   const PlanContext& context) {
  if (auto unmet = unmet_by_device(entry, context)) return std::move(*unmet);
  const auto bound = std::make_shared<const BoundProblem>(posed.bound);
  OrReason<KernelChoice> choice = choose_entry(entry, bound, entry.name, context, {});
  if (auto* reason = std::get_if<Reason>(&choice)) return std::move(*reason);
  SingleKernel kernel;
  kernel.choice = std::get<KernelChoice>(std::move(choice));
  const SpecPlaces places = places_of(kernel.choice, posed.tasks);
  kernel.spec = instance_spec(kernel.choice, places, context.device);
  const Environment names =
      entry_environment(entry, kernel.spec.problem, kernel.spec.tunables, context.device,
                        elements_of(places.operands.at("dst")));
  kernel.size = launch_size(entry, names, context.device);
  kernel.spec.local.assign(kernel.size.local.begin(), kernel.size.local.end());
  kernel.source = generate(kernel.spec);
  return kernel;
}

/// The entry on the first example with these sizes that it can compute, as `use` takes it. Throws
/// as single_kernel.
template <typename Use>
auto on_example(const Entry& entry, const Environment& sizes, const Catalogue& catalogue,
                const DeviceInfo& device, PlanOptions options, ExampleEpilogue epilogue, Use use) {
  options.use = {{entry.family, entry.name}};
  if (entry.sums.terms_in_f16 > 0) options.sums = DType::f16;
  for (const auto& [role, format] : entry.operands) {
    if (format.stored) options.precision = *format.stored;
  }
  const KernelPolicy policy(catalogue, options);
  Message first_reason;
  for (const Environment& example : example_sizes(entry.family, sizes)) {
    PosedProblem posed = posed_problem(entry, example, epilogue);
    const PlanContext context(policy, device, posed.tasks);
    OrReason<SingleKernel> made = made_kernel(entry, posed, context);
    if (auto* kernel = std::get_if<SingleKernel>(&made)) {
      return use(std::move(*kernel), posed, context);
    }
    if (first_reason.empty()) first_reason = print(std::get<Reason>(made));
  }
  throw UnsupportedError(entry.name + " on " + device.name + ": " + first_reason);
}

Plan plan_of(SingleKernel kernel, const TaskList& tasks, const PlanContext& context) {
  Schedule schedule;
  ScheduledKernel scheduled;
  for (auto& [role, arrangement] : places_of(kernel.choice, tasks).operands) {
    Value value;
    value.name = role;
    value.kind = role == "dst" ? Value::Kind::output : Value::Kind::input;
    value.bytes = bytes_of(arrangement);
    value.arrangement = std::move(arrangement);
    const ValueId id = schedule.values.add(std::move(value));
    (role == "dst" ? schedule.outputs : schedule.inputs).push_back({role, id});
    scheduled.values[role] = id;
  }
  scheduled.choice = std::move(kernel.choice);
  schedule.kernels.push_back(std::move(scheduled));
  return emit(schedule, {}, context);
}

}  // namespace

SingleKernel single_kernel(const Entry& entry, const Environment& sizes, const Catalogue& catalogue,
                           const DeviceInfo& device, PlanOptions options,
                           ExampleEpilogue epilogue) {
  return on_example(
      entry, sizes, catalogue, device, std::move(options), epilogue,
      [](SingleKernel kernel, const PosedProblem&, const PlanContext&) { return kernel; });
}

SinglePlan single_plan(const Entry& entry, const Environment& sizes, const Catalogue& catalogue,
                       const DeviceInfo& device, PlanOptions options) {
  return on_example(entry, sizes, catalogue, device, std::move(options), ExampleEpilogue::none,
                    [](SingleKernel kernel, PosedProblem& posed, const PlanContext& context) {
                      Plan plan = plan_of(std::move(kernel), posed.tasks, context);
                      return SinglePlan{std::move(posed), std::move(plan)};
                    });
}

}  // namespace morton::plan
