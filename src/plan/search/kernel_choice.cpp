// SPDX-License-Identifier: Apache-2.0
#include "plan/search/kernel_choice.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "plan/cost/cost.hpp"
#include "plan/cost/library_rules.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/search/entry_table.hpp"
#include "plan/search/entry_values.hpp"

namespace morton::plan {
namespace {

using Why = NotConsidered::Why;

/// A kernel that may become a choice: what it is made from.
struct Asked {
  const PreparedEntry& entry;
  const SharedProblem& bound;
  const PlanContext& context;
  const std::vector<TaskTensor>& temporaries;

  [[nodiscard]] const TaskTensor& tensor(int id) const {
    return tensor_at(id, context.tasks, temporaries);
  }
};

std::int64_t operand_bytes(const Asked& asked) {
  std::int64_t bytes = 0;
  for (const auto& [role, binding] : asked.bound->operands) {
    const TaskTensor& tensor = asked.tensor(binding.tensor);
    bytes += element_count(tensor.shape) * size_of(tensor.dtype);
  }
  for (const auto& side : asked.bound->sides) {
    bytes += element_count(side.shape) * size_of(asked.tensor(side.tensor).dtype);
  }
  return bytes;
}

/// True for an operand of a batch that all of its products read alike (the weights of a
/// convolution): it lies in memory once.
bool is_shared(const Entry& entry, const std::string& role, const View& view) {
  return !entry.batch_of.empty() && role != "dst" && view.grouping &&
         view.grouping->front().empty();
}

/// The extents of an operand's dimensions, and those with padding where they have any.
struct OperandSizes {
  OperandSizes(const EntryValues& values, const View& view, bool is_shared) {
    extents.reserve(view.dimensions.size());
    padded.reserve(view.dimensions.size());
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      const bool once = is_shared && d == 0;
      extents.push_back(once ? 1 : values.size(view.dimensions[d]));
      padded.push_back(once ? 1 : values.padded(view.dimensions[d]));
    }
  }
  Shape extents;
  std::vector<std::optional<std::int64_t>> padded;
};

/// True when the view's groups cover the tensor: a step of a recipe may look at a part of it, and
/// then what lies beyond the operand's extents is data, not padding.
bool covers(const View& view, const Shape& tensor, const Shape& extents) {
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::int64_t extent = 1;
    for (const int t : (*view.grouping)[d]) extent *= tensor[static_cast<std::size_t>(t)];
    if (extent != extents[d]) return false;
  }
  return true;
}

OrReason<Demand> demand_of(const Asked& asked, const std::string& role, const EntryValues& values) {
  const Entry& entry = *asked.entry.entry;
  const OperandFormat& format = entry.operands.at(role);
  const Binding& binding = asked.bound->operands.at(role);
  const View& view = binding.view;
  const TaskTensor& tensor = asked.tensor(binding.tensor);
  // What packs into one layout is chosen where that is already settled.
  if (entry.family == families::pack) return Demand{};
  Demand demand;
  if (format.is_any()) {
    if (role == "src" && !entry.family->has_any_rank()) demand.walk = Demand::Walk::rows;
    return demand;
  }
  const OperandSizes sizes(values, view, is_shared(entry, role, view));
  Arrangement& arrangement = demand.arrangement;
  arrangement.dtype = format.stored.value_or(tensor.dtype);
  arrangement.layout = values.layout(role, view.dimensions);
  arrangement.rim = format.rim;
  arrangement.memory = format.memory;
  arrangement.image_rows = format.image_rows;
  arrangement.image_texels = format.image_texels;
  if (view.grouping && covers(view, tensor.shape, sizes.extents)) {
    demand.kind = Demand::Kind::direct;
    arrangement.tensor_shape = tensor.shape;
    arrangement.grouping = *view.grouping;
  } else if (role != "dst") {
    demand.kind = Demand::Kind::packed;
    arrangement.tensor_shape = sizes.extents;
    arrangement.grouping.reserve(view.dimensions.size());
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      arrangement.grouping.push_back({static_cast<int>(d)});
    }
  } else {
    return ScatteredResult{view.print()};
  }
  arrangement.padded.reserve(view.dimensions.size());
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    // What is structure has no padded extent of its own; its layout pads it all the same.
    arrangement.padded.push_back(
        sizes.padded[d] ? *sizes.padded[d]
                        : round_up(sizes.extents[d], arrangement.layout.tile(static_cast<int>(d))));
  }
  return demand;
}

/// A kernel of a family of any rank walks the memory of dst, all of it, or the rows of the problem,
/// which may be a part of dst.
std::optional<Reason> check_part(const Asked& asked) {
  if (!asked.entry.entry->operands.at("dst").is_any()) return std::nullopt;
  const bool is_part = !asked.bound->operands.at("dst").view.grouping;
  if (is_part && asked.entry.walks_memory) return NotConsidered{Why::writes_the_whole};
  if (!is_part && asked.entry.writes_parts) return NotConsidered{Why::writes_a_part};
  return std::nullopt;
}

std::optional<Reason> check_operands(const Asked& asked) {
  const Problem& problem = asked.bound->problem;
  for (const auto& [role, format] : asked.entry.entry->operands) {
    if (format.stored && *format.stored != asked.context.options.precision) {
      return OtherPrecision{role, *format.stored};
    }
    const auto type = problem.types.find(role);
    if (type == problem.types.end()) continue;
    if (std::find(format.types.begin(), format.types.end(), type->second) == format.types.end()) {
      return WrongType{role, type->second};
    }
  }
  return std::nullopt;
}

/// Doubles are an option of OpenCL 1.2.
std::optional<Reason> check_doubles(const Asked& asked) {
  if (asked.context.device.fp64) return std::nullopt;
  const auto& steps = asked.bound->problem.epilogue.steps;
  bool used = std::any_of(steps.begin(), steps.end(), [](const ScalarStep& step) {
    return facts_of(step.op).typing == ScalarTyping::convert && step.target == DType::f64;
  });
  const auto is_double = [&](int tensor) { return asked.tensor(tensor).dtype == DType::f64; };
  for (const auto& [role, binding] : asked.bound->operands) {
    used = used || is_double(binding.tensor);
  }
  for (const auto& side : asked.bound->sides) used = used || is_double(side.tensor);
  if (!used) return std::nullopt;
  return NotConsidered{Why::computes_with_f64};
}

std::optional<Reason> check_verdicts(const Asked& asked, const Environment& values) {
  if (!asked.entry.has_verdicts) return std::nullopt;
  const PlanContext& context = asked.context;
  const Verdict* verdict =
      context.options.tuned->verdict_on(*asked.entry.entry, values, context.device);
  if (verdict == nullptr) return std::nullopt;
  return RefusedValues{values, verdict->why, verdict->finder};
}

/// What can be told without the values of the entry's expressions.
std::optional<Reason> check_before_values(const Asked& asked, const Environment& tunables) {
  if (auto reason = missing_library(*asked.entry.entry, asked.context.options)) return reason;
  if (auto reason = check_operands(asked)) return reason;
  if (auto reason = check_part(asked)) return reason;
  if (auto reason = check_doubles(asked)) return reason;
  return check_verdicts(asked, tunables);
}

/// An operand in an image must fit the device's images.
std::optional<Reason> check_image(const std::string& role, const Arrangement& arrangement,
                                  const DeviceInfo& device) {
  if (arrangement.memory != MemoryKind::image) return std::nullopt;
  if (!device.images) return NoImages{role};
  const ImageExtents extents = image_extents(arrangement);
  const ImageExtents most{device.image_max_height, device.image_max_width};
  if (extents.texels <= most.texels && extents.rows <= most.rows) return std::nullopt;
  return LargeImage{role, extents, most};
}

/// Fills in the demands of all operands.
std::optional<Reason> demand_all(const Asked& asked, const EntryValues& values,
                                 KernelChoice& choice) {
  for (const auto& [role, binding] : asked.bound->operands) {
    OrReason<Demand> demand = demand_of(asked, role, values);
    if (auto* reason = std::get_if<Reason>(&demand)) return std::move(*reason);
    const auto& known =
        choice.demands.emplace(role, std::get<Demand>(std::move(demand))).first->second;
    if (auto reason = check_image(role, known.arrangement, asked.context.device)) return reason;
  }
  return std::nullopt;
}

/// Time of a run. What was measured is a share of the peak on the problem's own operations.
double estimate_us(const Asked& asked, const ChosenTunables& chosen, const EntryValues& values,
                   const LaunchSize& size, double efficiency) {
  using Operations = EntryValues::Operations;
  const DeviceInfo& device = asked.context.device;
  const bool tuned = chosen.origin == ChosenTunables::Origin::tuned;
  const auto flop =
      static_cast<double>(values.operations(tuned ? Operations::flop : Operations::work));
  double bytes = 0.0;
  if (!chosen.exact) {
    const std::int64_t stated = values.bytes();
    bytes = static_cast<double>(stated != 0 ? stated : operand_bytes(asked));
  }
  if (runs_on_host(*asked.entry.entry) && host_is_measured(device)) {
    return host_step_cost_us(flop, bytes, device);
  }
  return step_cost_us(flop, efficiency * busy_share(size, device),
                      bytes / asked_share(size, device), device);
}

/// The kernel with these values of its tunables.
OrReason<KernelChoice> choose_with(const ChosenTunables& chosen, const Asked& asked) {
  if (auto reason = check_before_values(asked, chosen.values)) return std::move(*reason);
  const Entry& entry = *asked.entry.entry;
  const PlanContext& context = asked.context;
  const TaskTensor& dst = asked.tensor(tensor_of(*asked.bound, "dst"));
  const PreparedKernel& kernel = context.entries->with(chosen.values, entry);
  const EntryValues values(kernel, asked.bound->problem, context.device, element_count(dst.shape));
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
  choice.once = dst.kind == TaskTensor::Kind::derived;
  if (!choice.once) {
    choice.estimated_us = estimate_us(asked, chosen, values, launch.size, choice.efficiency);
  }
  return choice;
}

ChosenTunables tuned_for_problem(const Asked& asked, const ChosenTunables& untuned) {
  const bool is_open = untuned.origin != ChosenTunables::Origin::set;
  if (!asked.entry.has_records || !is_open) return {};
  const PlanContext& context = asked.context;
  const Entry& entry = *asked.entry.entry;
  return tuned_tunables(
      entry, context.options.tuned->look_up(entry, *asked.bound, context.entries->tuned_device()));
}

}  // namespace

bool writes_parts(const Entry& entry) {
  return entry.code.find("COORDINATES_OF_ROW") != std::string::npos;
}

const TaskTensor& tensor_at(int id, const TaskList& tasks,
                            const std::vector<TaskTensor>& temporaries) {
  return id >= kFirstTemporary ? temporaries[static_cast<std::size_t>(id - kFirstTemporary)]
                               : tasks.tensors[static_cast<std::size_t>(id)];
}

OrReason<KernelChoice> choose_entry(const Entry& entry, const SharedProblem& bound,
                                    const std::string& name, const PlanContext& context,
                                    const std::vector<TaskTensor>& temporaries) {
  const Asked asked{context.entries->of(entry), bound, context, temporaries};
  if (const auto* reason = std::get_if<Reason>(&asked.entry.chosen)) return *reason;
  const auto& untuned = std::get<ChosenTunables>(asked.entry.chosen);
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
