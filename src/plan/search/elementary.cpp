// SPDX-License-Identifier: Apache-2.0
#include "plan/search/elementary.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/search/instance_spec.hpp"
#include "plan/tasks/narrow.hpp"

namespace morton::plan {
namespace {

using IsBetter = bool (*)(const KernelChoice& a, const KernelChoice& b);

bool takes_less_time(const KernelChoice& a, const KernelChoice& b) {
  return a.estimated_us < b.estimated_us;
}

/// Extents have no part in it: another size of the same model finds its packing kernels built.
bool uses_more_of_the_device(const KernelChoice& a, const KernelChoice& b) {
  const double building_us[] = {a.entry->cost.building_us, b.entry->cost.building_us};
  if (building_us[0] != building_us[1]) return building_us[0] < building_us[1];
  return a.efficiency > b.efficiency;
}

/// Which entries may be taken, and which of them is the best.
struct Criteria {
  std::function<std::optional<Reason>(const Entry&)> why_unfit;
  std::function<bool(const KernelChoice&)> is_preferred;
  IsBetter is_better = nullptr;
};

/// The best of the preferred entries, or of all where none is.
OrReason<KernelChoice> best_entry(const SharedProblem& bound, const std::string& name,
                                  const PlanContext& context, const Temporaries& temporaries,
                                  const Criteria& criteria) {
  std::vector<Rejection> rejections;
  std::optional<KernelChoice> best;
  bool best_is_preferred = false;
  const RecipePath alone;
  const TaskPlace place{alone, context.decision};
  const auto reject = [&](const Entry& entry, Reason reason) {
    rejections.push_back({entry.name, std::move(reason)});
  };
  for (auto& [entry, why_not] : context.policy.entries_for(bound->problem.family, place)) {
    if (!why_not) why_not = criteria.why_unfit(*entry);
    if (why_not) {
      reject(*entry, std::move(*why_not));
      continue;
    }
    OrReason<KernelChoice> found = choose_entry(*entry, bound, name, context, temporaries);
    if (auto* reason = std::get_if<Reason>(&found)) {
      reject(*entry, std::move(*reason));
      continue;
    }
    auto& choice = std::get<KernelChoice>(found);
    const bool preferred = criteria.is_preferred(choice);
    const bool better =
        !best || (preferred == best_is_preferred ? criteria.is_better(choice, *best) : preferred);
    if (!better) continue;
    best = std::move(choice);
    best_is_preferred = preferred;
  }
  if (best) return std::move(*best);
  return NoEntry{print(bound->problem), name, std::move(rejections)};
}

/// True when the matrix lies as the format says: dst with whatever padding, src with none.
bool lies_as(const OperandFormat& format, const std::string& role, const Binding& binding,
             const Arrangement& arrangement, const BoundProblem& bound) {
  const View& view = binding.view;
  if (view.dimensions.size() != 2 || !view.grouping) return false;
  const Layout layout = layout_of(format, view.dimensions, {});
  if (role == "dst") return arrangement.layout == layout && arrangement.grouping == *view.grouping;
  Arrangement wanted = arrangement;
  wanted.grouping = *view.grouping;
  wanted.layout = layout;
  wanted.pitch = 0;
  wanted.padded.clear();
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t extent = bound.problem.extents.at(view.dimensions[d]);
    if (extent % layout.tile(static_cast<int>(d)) != 0) return false;
    wanted.padded.push_back(extent);
  }
  return same_memory(arrangement, wanted);
}

/// Whether the instance that packs between these ends is one of those that are built.
bool is_built_for(const KernelChoice& choice, PackEnds ends, const PlanContext& context) {
  InstanceSpec spec =
      instance_spec(choice, {{{"src", ends.from}, {"dst", ends.to}}, {}}, context.device);
  const Environment names = entry_environment(*choice.entry, spec.problem, spec.tunables,
                                              context.device, elements_of(ends.to));
  const LaunchNumbers launch = launch_numbers(*choice.entry, names);
  if (beyond_limits(launch, context.device)) return false;
  spec.local.assign(launch.size.local.begin(), launch.size.local.end());
  return context.options.built->instances.contains(generate(spec).key);
}

}  // namespace

OrReason<KernelChoice> choose_elementary(const SharedProblem& bound, const std::string& name,
                                         const PlanContext& context,
                                         const Temporaries& temporaries) {
  const auto at = [&](TensorId id) -> const TaskTensor& {
    return tensor_at(id, context.tasks, temporaries);
  };
  for (auto& narrow : narrowed(*bound, at)) {
    const auto wanted = context.options.use.find(narrow.problem.family);
    const Entry* entry = wanted == context.options.use.end()
                             ? nullptr
                             : context.catalogue.find_entry(wanted->second);
    if (entry == nullptr) continue;
    return choose_entry(*entry, std::make_shared<const BoundProblem>(std::move(narrow)), name,
                        context, temporaries);
  }
  const auto any = [](const Entry&) { return std::optional<Reason>(); };
  const auto all = [](const KernelChoice&) { return true; };
  return best_entry(bound, name, context, temporaries, {any, all, takes_less_time});
}

OrReason<KernelChoice> choose_pack(const SharedProblem& bound, const std::string& name,
                                   const PlanContext& context, const Temporaries& temporaries,
                                   PackEnds ends) {
  const auto why_unfit = [&](const Entry& entry) -> std::optional<Reason> {
    for (const auto& [role, format] : entry.operands) {
      if (format.is_any()) continue;
      const Arrangement& arrangement = role == "dst" ? ends.to : ends.from;
      if (lies_as(format, role, bound->operands.at(role), arrangement, *bound)) continue;
      return OtherLayout{role, std::make_shared<const Arrangement>(arrangement),
                         format.layout_text};
    }
    return std::nullopt;
  };
  const auto is_built = [&](const KernelChoice& choice) {
    return context.options.built == nullptr || is_built_for(choice, ends, context);
  };
  return best_entry(bound, name, context, temporaries,
                    {why_unfit, is_built, uses_more_of_the_device});
}

}  // namespace morton::plan
