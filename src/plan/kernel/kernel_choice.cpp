// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/kernel_choice.hpp"

#include <algorithm>

#include "plan/cost/cost.hpp"
#include "plan/cost/library_rules.hpp"
#include "plan/kernel/asked_kernel.hpp"
#include "plan/kernel/demands.hpp"
#include "plan/kernel/entry_values.hpp"
#include "plan/kernel/kernel_checks.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/policy/work_group.hpp"
#include "source/work_program.hpp"

namespace morton::plan {
namespace {

/// Moved::waits of a CPU for so many bytes in pieces. A processor reads ahead within a page, so it
/// waits for each piece, about as long as kWaitBytes take. (Measured with pieces of 128, 192 and
/// 1024 bytes, in encoders' products on AVX-512.)
double waits_for(double bytes, std::int64_t piece_bytes) {
  constexpr double kWaitBytes = 384.0;
  return piece_bytes == 0 ? 0.0 : bytes * kWaitBytes / static_cast<double>(piece_bytes);
}

/// What the kernel moves: each operand once, or as many bytes as the entry states.
Moved moved_by(const AskedKernel& asked, const EntryValues& values) {
  const std::int64_t stated = values.bytes();
  Moved moved;
  moved.all_weights = static_cast<double>(asked.context.weights_bytes);
  const auto add = [&](const Shape& shape, const TaskTensor& tensor, DType type) {
    using Kind = TaskTensor::Kind;
    const bool fixed = tensor.kind == Kind::constant || tensor.kind == Kind::derived;
    const auto bytes = static_cast<double>(element_count(shape) * size_of(type));
    (fixed ? moved.weights : moved.tensors) += bytes;
    return fixed ? bytes : 0.0;
  };
  const bool is_cpu = asked.context.device.kind == DeviceInfo::Kind::cpu;
  const std::string& in_pieces = asked.entry.entry->cost.in_pieces;
  for (const auto& [role, binding] : asked.bound->operands) {
    const TaskTensor& tensor = asked.tensor(binding.tensor);
    const DType type = tensor.is_rounded
                           ? type_in_memory(asked.entry.entry->operands.at(role), tensor)
                           : tensor.dtype;
    const double weights = add(tensor.shape, tensor, type);
    if (!is_cpu || weights == 0.0 || in_pieces != std::string_view(role)) continue;
    moved.waits += waits_for(weights, values.piece() * size_of(type));
  }
  for (const auto& side : asked.bound->sides) {
    const TaskTensor& tensor = asked.tensor(side.tensor);
    add(side.shape, tensor, tensor.dtype);
  }
  if (stated != 0) {
    moved.weights = std::min(moved.weights, static_cast<double>(stated));
    moved.tensors = static_cast<double>(stated) - moved.weights;
  }
  return moved;
}

using Operations = EntryValues::Operations;

/// The share of the peak at which the kernel does its `work` by what the GPU's compiler says.
double compiled_efficiency(const StaticCost& cost, const EntryValues& values,
                           const LaunchSize& size, const DeviceInfo& device) {
  const auto work = static_cast<double>(values.operations(Operations::work));
  const double of_an_item = work / work_items(size.global);
  // A multiply-add is two operations.
  return work / (2.0 * timed_work_items(size, device) * cost.of_item(of_an_item));
}

/// Time of a run. What was measured is a share of the peak on the problem's own operations.
double estimate_us(const AskedKernel& asked, const ChosenTunables& chosen,
                   const EntryValues& values, const LaunchNumbers& launch, double efficiency,
                   bool is_compiled) {
  const LaunchSize& size = launch.size;
  const DeviceInfo& device = asked.context.device;
  const bool tuned = chosen.origin == ChosenTunables::Origin::tuned;
  const auto flop =
      static_cast<double>(values.operations(tuned ? Operations::flop : Operations::work));
  // What was measured on this problem has waited. On another one it had the weights in caches.
  const Moved moved = chosen.exact ? Moved{} : moved_by(asked, values);
  if (runs_on_host(*asked.entry.entry) && host_is_measured(device)) {
    return host_step_cost_us(flop, moving_us(moved, device), device);
  }
  // What a compiler counts are cycles of a core that is full of work-items.
  const double asked_for = asked_share(launch, asked.entry.entry->program.copies_meanwhile, device);
  const double filled = is_compiled ? full_share(timed_work_items(size, device), device) : 1.0;
  const double busy = std::min(busy_share(size, device), filled);
  return step_cost_us(flop, efficiency * busy, moving_us(moved, device) / asked_for, device);
}

/// The kernel with these values of its tunables.
OrReason<KernelChoice> choose_with(const ChosenTunables& chosen, const AskedKernel& asked) {
  if (auto reason = why_not_before_values(asked, chosen.values)) return std::move(*reason);
  const Entry& entry = *asked.entry.entry;
  const PlanContext& context = asked.context;
  const TaskTensor& dst = asked.tensor(tensor_of(*asked.bound, "dst"));
  const PreparedKernel& kernel = context.entries->with(chosen.values, entry);
  const EntryValues values(kernel, context.entries->asked(asked.bound), context.device,
                           element_count(dst.shape));
  if (const Expression* unmet = values.unmet()) return UnmetCondition{*unmet};
  if (auto reason = why_not_on_host(entry, context.device, context.options)) {
    return std::move(*reason);
  }
  const LaunchNumbers launch = values.launch();
  if (auto reason = beyond_limits(launch, context.device)) return std::move(*reason);
  KernelChoice choice;
  if (auto reason = demand_all(asked, values, choice)) return std::move(*reason);
  choice.entry = &entry;
  choice.tunables = kernel.tunables;
  choice.tunables_from = chosen.from;
  choice.bound = asked.bound;
  choice.is_tuned = chosen.origin == ChosenTunables::Origin::tuned;
  choice.efficiency = choice.is_tuned ? chosen.efficiency : asked.entry.efficiency;
  const StaticCost* cost = choice.is_tuned ? nullptr : asked.entry.static_cost_of(chosen.values);
  if (cost != nullptr) {
    choice.efficiency = compiled_efficiency(*cost, values, launch.size, context.device);
    choice.tunables_from += std::string(chosen.from.empty() ? "" : ", ") +
                            "cost from the compiler of " + context.entries->board();
  }
  choice.once = dst.kind == TaskTensor::Kind::derived;
  if (!choice.once) {
    choice.estimated_us =
        estimate_us(asked, chosen, values, launch, choice.efficiency, cost != nullptr);
  }
  choice.building_us = entry.cost.building_us;
  choice.estimated_us += choice.building_us;
  return choice;
}

/// These values of an entry that asks for it, where nobody else chose them, with the work-group, as
/// large as theirs, that leaves the fewest work-items idle; theirs of equals.
ChosenTunables with_fitting_work_group(const AskedKernel& asked, const ChosenTunables& standard) {
  const Entry& entry = *asked.entry.entry;
  const PlanContext& context = asked.context;
  const bool is_open = standard.origin == ChosenTunables::Origin::standard &&
                       context.options.local.empty() &&
                       entry.launch.work_group == Entry::Launch::WorkGroup::fewest_idle;
  if (!is_open || why_not_before_values(asked, standard.values)) return standard;
  const TaskTensor& dst = asked.tensor(tensor_of(*asked.bound, "dst"));
  const auto launched = [&](const Environment& values) -> std::optional<double> {
    // Before the problem, which answers to the names that are known by then.
    const PreparedKernel& kernel = context.entries->with(values, entry);
    const EntryValues known(kernel, context.entries->asked(asked.bound), context.device,
                            element_count(dst.shape));
    if (known.unmet() != nullptr) return std::nullopt;
    const LaunchNumbers launch = known.launch();
    if (beyond_limits(launch, context.device)) return std::nullopt;
    return work_items(launch.size.global);
  };
  ChosenTunables best = standard;
  std::optional<double> fewest = launched(standard.values);
  for (const Environment& values : work_groups_as_large(entry, standard.values)) {
    const std::optional<double> items = launched(values);
    if (!items || (fewest && *items >= *fewest)) continue;
    fewest = items;
    best.values = values;
    best.from = standard.from + (standard.from.empty() ? "" : ", ") +
                "with the work-group that leaves the fewest work-items idle";
  }
  return best;
}

/// Of the values whose cost the GPU's compiler tells, those with which it takes the least time.
/// Work-groups are the entry's standard, or fit the extents: of their sizes machine code says
/// nothing.
OrReason<KernelChoice> choose_compiled(const AskedKernel& asked, const ChosenTunables& standard) {
  const Entry& entry = *asked.entry.entry;
  const Environment& own = std::get<ChosenTunables>(asked.entry.chosen).values;
  OrReason<KernelChoice> best = choose_with(standard, asked);
  for (const StaticCost* cost : asked.entry.static_costs) {
    ChosenTunables chosen = standard;
    chosen.values = cost->tunables;
    for (const std::string& name : work_group_tunables(entry)) {
      chosen.values[name] = own.find(name)->second;
    }
    chosen.from = "";
    chosen = with_fitting_work_group(asked, chosen);
    const bool is_tried = are_tried(entry, chosen.values, asked.context.entries->device_names());
    if (chosen.values == standard.values || !is_tried) continue;
    OrReason<KernelChoice> choice = choose_with(chosen, asked);
    const auto* made = std::get_if<KernelChoice>(&choice);
    const auto* before = std::get_if<KernelChoice>(&best);
    if (made == nullptr) continue;
    if (before == nullptr || made->estimated_us < before->estimated_us) best = std::move(choice);
  }
  return best;
}

ChosenTunables tuned_for_problem(const AskedKernel& asked, const ChosenTunables& untuned) {
  const bool is_open = untuned.origin != ChosenTunables::Origin::set;
  if (!asked.entry.has_records || !is_open) return {};
  const PlanContext& context = asked.context;
  const Entry& entry = *asked.entry.entry;
  const TunedProblem& problem = context.entries->asked(asked.bound).tuned();
  const TunedDevice& device = context.entries->tuned_device();
  return tuned_tunables(entry, context.options.tuned->look_up(entry, problem, device), device,
                        context.entries->device_names());
}

}  // namespace

bool writes_parts(const Entry& entry) {
  return entry.uses("COORDINATES_OF_ROW") || writes_part_by_program(entry);
}

const TaskTensor& tensor_at(TensorId id, const TaskList& tasks, const Temporaries& temporaries) {
  return is_temporary(id) ? temporaries[temporary_index(id)] : tasks.tensors[id];
}

OrReason<KernelChoice> choose_entry(const Entry& entry, const SharedProblem& bound,
                                    const std::string& name, const PlanContext& context,
                                    const Temporaries& temporaries) {
  const AskedKernel asked{context.entries->of(entry), bound, context, temporaries};
  if (const auto* reason = std::get_if<Reason>(&asked.entry.chosen)) return *reason;
  const ChosenTunables untuned =
      with_fitting_work_group(asked, std::get<ChosenTunables>(asked.entry.chosen));
  const auto named = [&](OrReason<KernelChoice> choice) {
    if (auto* made = std::get_if<KernelChoice>(&choice)) made->name = name;
    return choice;
  };
  const Environment* decided = decided_tunables(entry, context.decision);
  const ChosenTunables tuned = tuned_for_problem(asked, untuned);
  std::string note = tuned.from.empty() ? "" : " (" + tuned.from + ")";
  const bool as_decided = decided == nullptr || tuned.values == *decided;
  if (tuned.origin == ChosenTunables::Origin::tuned && as_decided) {
    OrReason<KernelChoice> choice = choose_with(tuned, asked);
    const auto* reason = std::get_if<Reason>(&choice);
    if (reason == nullptr) return named(std::move(choice));
    note = " (" + tuned.from + ": " + print_tunables(tuned.values) + ", but " +
           print(*reason).print() + ")";
  }
  const bool is_open = untuned.origin == ChosenTunables::Origin::standard;
  if (decided == nullptr && is_open && !asked.entry.static_costs.empty()) {
    OrReason<KernelChoice> choice = choose_compiled(asked, untuned);
    if (auto* made = std::get_if<KernelChoice>(&choice)) made->tunables_from += note;
    return named(std::move(choice));
  }
  if (note.empty() && (decided == nullptr || untuned.values == *decided)) {
    return named(choose_with(untuned, asked));
  }
  ChosenTunables chosen = untuned;
  chosen.from += note;
  if (decided != nullptr && chosen.values != *decided) {
    chosen.values = *decided;
    chosen.from = "as it is built";
  }
  return named(choose_with(chosen, asked));
}

}  // namespace morton::plan
