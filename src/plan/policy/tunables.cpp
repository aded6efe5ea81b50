// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/tunables.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/use.hpp"
#include "plan/policy/work_group.hpp"

namespace morton::plan {
namespace {

/// What each tunable of a kernel or a recipe may be.
using ValuesByName = std::map<std::string, std::vector<std::int64_t>>;

/// "\n  TILE_M of 1, 2, 4" for each tunable.
std::string tunables_text(const ValuesByName& known) {
  std::string text;
  for (const auto& [name, values] : known) {
    text += "\n  " + name + " of " + values_text(values);
  }
  return text;
}

/// `what` is "kernel" or "recipe".
void check_one(const std::string& what, const std::string& name_of_it, const ValuesByName& known,
               const Environment& values) {
  for (const auto& [name, value] : values) {
    const Message asked =
        setting("tunables", name_of_it + ":" + name + "=" + std::to_string(value));
    const auto tunable = known.find(name);
    if (tunable == known.end()) {
      throw UsageError(asked + ": the " + what + " has no such tunable" +
                       (known.empty() ? "; it has none" : "; it has:" + tunables_text(known)));
    }
    if (std::ranges::find(tunable->second, value) == tunable->second.end()) {
      throw UsageError(asked + ": " + name + " takes " + values_text(tunable->second));
    }
  }
}

}  // namespace

std::string values_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return text;
}

OrReason<ChosenTunables> choose_tunables(const Entry& entry, const Environment& device,
                                         const PlanOptions& options) {
  ChosenTunables chosen;
  OrReason<Environment> values = tunables_for(entry, device, options.local);
  if (auto* reason = std::get_if<Reason>(&values)) return std::move(*reason);
  chosen.values = std::get<Environment>(std::move(values));
  if (chosen.values.empty()) return chosen;
  auto given = options.tunables.find(entry.name);
  if (given == options.tunables.end()) given = options.tunables.find(entry.origin.batch_of);
  if (given != options.tunables.end()) {
    for (const auto& [name, value] : given->second) chosen.values[name] = value;
  }
  const bool standard = chosen.values == standard_tunables(entry, device);
  const bool set = given != options.tunables.end() || !standard;
  chosen.origin = set ? ChosenTunables::Origin::set : ChosenTunables::Origin::standard;
  chosen.from = set ? "as set" : "the entry's standard";
  return chosen;
}

bool are_listed(const Entry& entry, const Environment& values) {
  return values.size() == entry.tunables.size() &&
         std::ranges::all_of(entry.tunables, [&](const auto& named) {
           const auto found = values.find(named.first);
           return found != values.end() && std::ranges::find(named.second.values, found->second) !=
                                               named.second.values.end();
         });
}

bool are_tried(const Entry& entry, const Environment& values, const Environment& device_names) {
  Environment names = device_names;
  for (const auto& [name, value] : values) names[name] = value;
  return std::ranges::all_of(
      entry.tunables, [&](const auto& named) { return named.second.tried.evaluate(names) != 0; });
}

ChosenTunables tuned_tunables(const Entry& entry, const TunedData::Hit& hit,
                              const TunedDevice& device, const Environment& device_names) {
  ChosenTunables tuned;
  tuned.from = hit.how;
  if (hit.record == nullptr) return tuned;
  if (!are_listed(entry, hit.record->tunables)) {
    tuned.from = "what was tuned has values that the entry does not list and is not used";
    return tuned;
  }
  const bool is_elsewhere = hit.record->device.fingerprint != device.fingerprint;
  if (is_elsewhere && !are_tried(entry, hit.record->tunables, device_names)) {
    tuned.from = "what was tuned on another device does not fit this one and is not used";
    return tuned;
  }
  tuned.origin = ChosenTunables::Origin::tuned;
  tuned.values = hit.record->tunables;
  tuned.efficiency = hit.record->efficiency;
  tuned.exact = hit.exact;
  return tuned;
}

std::string print_tunables(const Environment& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  }
  return text;
}

void check_tunables(const std::map<std::string, Environment>& given, const Catalogue& catalogue) {
  for (const auto& [kernel, values] : given) {
    if (const Recipe* recipe = catalogue.find_recipe(kernel)) {
      check_one("recipe", kernel, recipe->tunables, values);
      continue;
    }
    const Entry* entry = catalogue.find_entry(kernel);
    if (entry == nullptr) {
      throw UsageError(setting("tunables", kernel) +
                       ": the catalogue has no such kernel or recipe" +
                       names_near(kernel, kernels_of("", catalogue)));
    }
    ValuesByName known;
    for (const auto& [name, tunable] : entry->tunables) known.emplace(name, tunable.values);
    check_one("kernel", kernel, known, values);
  }
}

}  // namespace morton::plan
