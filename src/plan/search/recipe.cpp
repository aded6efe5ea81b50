// SPDX-License-Identifier: Apache-2.0
#include "plan/search/recipe.hpp"

#include <algorithm>
#include <map>

#include "base/numbers/checked.hpp"
#include "plan/search/candidates.hpp"
#include "plan/search/expansion.hpp"

namespace morton::plan {
namespace {

/// Extents and structure of the task, the recipe's tunables and its sizes.
OrReason<Environment> values_of(const Recipe& recipe, const Task& task,
                                const Environment& tunables) {
  Environment values = environment_of(task.bound.problem);
  for (const auto& [name, value] : tunables) {
    if (!values.emplace(name, value).second) return NameClash{name};
  }
  if (recipe.sizes.empty()) return values;
  const Environment known = values;
  for (const auto& [name, size] : recipe.sizes) {
    if (!values.emplace(name, size.evaluate(known)).second) return NameClash{name};
  }
  return values;
}

/// The first condition of the recipe that does not hold; null where all do.
const Expression* unmet_condition(const Recipe& recipe, const Environment& values,
                                  const Environment* device) {
  Environment with_device;
  for (const Expression& condition : recipe.require) {
    const auto names = condition.variables();
    const auto is_fact = [&](const std::string& name) { return device->contains(name); };
    const bool asks_device = device != nullptr && std::ranges::any_of(names, is_fact);
    if (asks_device && with_device.empty()) {
      with_device = values;
      with_device.insert(device->begin(), device->end());
    }
    if (condition.evaluate(asks_device ? with_device : values) == 0) return &condition;
  }
  return nullptr;
}

}  // namespace

std::vector<Environment> tunable_values(const Recipe& recipe, const Environment& set) {
  std::vector<Environment> combinations{{}};
  for (const auto& [name, known] : recipe.tunables) {
    const auto given = set.find(name);
    const std::vector<std::int64_t> values =
        given == set.end() ? known : std::vector<std::int64_t>{given->second};
    std::vector<Environment> longer;
    for (const Environment& combination : combinations) {
      for (const std::int64_t value : values) {
        longer.push_back(combination);
        longer.back()[name] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

OrReason<ExpandedRecipe> expand(const Recipe& recipe, const Task& task, std::size_t known,
                                const TaskList& tasks, const RecipeSetting& setting) {
  OrReason<Environment> found = values_of(recipe, task, setting.tunables);
  if (auto* reason = std::get_if<Reason>(&found)) return std::move(*reason);
  auto& values = std::get<Environment>(found);
  if (const Expression* unmet = unmet_condition(recipe, values, setting.device)) {
    return UnmetCondition{*unmet};
  }
  return Expansion(recipe, task, known, tasks, std::move(values)).in_slabs(setting.slab_count);
}

std::int64_t workspace_bytes(const ExpandedRecipe& expanded, std::size_t known) {
  std::map<int, std::int64_t> by_slab;
  for (const auto& step : expanded.steps) {
    const TensorId dst = tensor_of(step.task.bound, "dst");
    if (!is_temporary(dst) || temporary_index(dst) < known) continue;
    const TaskTensor& tensor = expanded.temporaries[temporary_index(dst) - known];
    if (tensor.kind == TaskTensor::Kind::derived) continue;
    by_slab[step.slab] += element_count(tensor.shape) * size_of(tensor.dtype);
  }
  std::int64_t largest = 0;
  for (const auto& [slab, bytes] : by_slab) {
    if (slab >= 0) largest = std::max(largest, bytes);
  }
  return largest + by_slab[-1];
}

OrReason<std::int64_t> most_slabs(const Recipe& recipe, const Task& task,
                                  const Environment& tunables) {
  if (!recipe.slabs) return std::int64_t{1};
  const OrReason<Environment> values = values_of(recipe, task, tunables);
  if (const auto* reason = std::get_if<Reason>(&values)) return *reason;
  const std::int64_t extent = recipe.slabs->extent.evaluate(std::get<Environment>(values));
  return std::max<std::int64_t>(1, ceil_div(extent, kSlabStep));
}

}  // namespace morton::plan
