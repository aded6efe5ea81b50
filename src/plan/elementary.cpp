// SPDX-License-Identifier: Apache-2.0
//
// Which kernel packs, or computes an elementwise step, where no format is open any more.
#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "plan/kernel_choice.hpp"
#include "plan/narrow.hpp"
#include "plan/wanted.hpp"

namespace morton {
namespace {

/// The cheapest entry for which `fits` does not throw UnsupportedError.
KernelChoice cheapest_entry(const BoundProblem& bound, const std::string& name,
                            const PlanContext& context, const std::vector<TaskTensor>& temporaries,
                            const std::function<void(const Entry&)>& check_fits) {
  std::string reasons;
  std::optional<KernelChoice> best;
  for (const auto& entry : context.catalogue.entries()) {
    if (entry.family != bound.problem.family) continue;
    if (!is_wanted(entry.name, entry.family, context, {})) continue;
    if (is_excluded(entry.name, context)) continue;
    try {
      check_fits(entry);
      KernelChoice choice = choose_entry(entry, bound, name, context, temporaries);
      if (!best || choice.estimated_us < best->estimated_us) best = std::move(choice);
    } catch (const UnsupportedError& error) {
      reasons += std::string("; ") + entry.name + ": " + error.what();
    }
  }
  if (best) return *best;
  throw UnsupportedError("plan: no kernel for " + print(bound.problem) + " (" + name + ")" +
                         reasons);
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

}  // namespace

KernelChoice choose_elementary(const BoundProblem& bound, const std::string& name,
                               const PlanContext& context,
                               const std::vector<TaskTensor>& temporaries) {
  const auto at = [&](int id) -> const TaskTensor& {
    return tensor_at(id, context.tasks, temporaries);
  };
  for (const auto& narrow : narrowed(bound, at)) {
    const auto wanted = context.options.use.find(narrow.problem.family);
    const Entry* entry = wanted == context.options.use.end()
                             ? nullptr
                             : context.catalogue.find_entry(wanted->second);
    if (entry != nullptr) return choose_entry(*entry, narrow, name, context, temporaries);
  }
  return cheapest_entry(bound, name, context, temporaries, [](const Entry&) {});
}

KernelChoice choose_pack(const BoundProblem& bound, const std::string& name,
                         const PlanContext& context, const std::vector<TaskTensor>& temporaries,
                         PackEnds ends) {
  return cheapest_entry(bound, name, context, temporaries, [&](const Entry& entry) {
    for (const auto& [role, format] : entry.operands) {
      const Arrangement& arrangement = role == "dst" ? ends.to : ends.from;
      if (!format.is_any() && !lies_as(format, role, bound.operands.at(role), arrangement, bound)) {
        throw UnsupportedError("its operand " + role + " lies as " + print(arrangement) +
                               ", not as " + format.layout_text);
      }
    }
  });
}

}  // namespace morton
