// SPDX-License-Identifier: Apache-2.0
#include "plan/tunables.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "plan/work_group.hpp"

namespace morton {
namespace {

std::string values_text(const Tunable& tunable) {
  std::string text;
  for (const std::int64_t value : tunable.values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return text;
}

/// "\n  TILE_M of 1, 2, 4" for each tunable of the entry.
std::string tunables_text(const Entry& entry) {
  std::string text;
  for (const auto& [name, tunable] : entry.tunables) {
    text += "\n  " + name + " of " + values_text(tunable);
  }
  return text;
}

/// Names of the kernels that could be meant by `name`: those of its family, else all.
std::string known_kernels(const std::string& name, const Catalogue& catalogue) {
  const std::string family = name.substr(0, name.find('.'));
  std::string same, all;
  for (const Entry& entry : catalogue.entries()) {
    if (entry.tunables.empty() || !entry.batch_of.empty()) continue;
    all += "\n  " + entry.name;
    if (entry.family == family) same += "\n  " + entry.name;
  }
  return same.empty() ? all : same;
}

void check_one(const Entry& entry, const Environment& values) {
  for (const auto& [name, value] : values) {
    const std::string asked = "--set " + entry.name + ":" + name + "=" + std::to_string(value);
    const auto tunable = entry.tunables.find(name);
    if (tunable == entry.tunables.end()) {
      throw UsageError(
          asked + ": the kernel has no such tunable" +
          (entry.tunables.empty() ? "; it has none" : "; it has:" + tunables_text(entry)));
    }
    if (std::ranges::find(tunable->second.values, value) == tunable->second.values.end()) {
      throw UsageError(asked + ": " + name + " takes " + values_text(tunable->second));
    }
  }
}

}  // namespace

ChosenTunables choose_tunables(const Entry& entry, const PlanOptions& options) {
  ChosenTunables chosen;
  chosen.values = tunables_for(entry, options.local);
  if (chosen.values.empty()) return chosen;
  auto given = options.tunables.find(entry.name);
  if (given == options.tunables.end()) given = options.tunables.find(entry.batch_of);
  if (given != options.tunables.end()) {
    for (const auto& [name, value] : given->second) chosen.values[name] = value;
  }
  const bool standard = chosen.values == standard_tunables(entry);
  const bool set = given != options.tunables.end() || !standard;
  chosen.origin = set ? ChosenTunables::Origin::set : ChosenTunables::Origin::standard;
  chosen.from = set ? "as set" : "the entry's standard";
  return chosen;
}

ChosenTunables tuned_tunables(const Entry& entry, const BoundProblem& bound,
                              const DeviceInfo& device, const PlanOptions& options) {
  ChosenTunables tuned;
  if (options.tuned == nullptr) return tuned;
  if (choose_tunables(entry, options).origin == ChosenTunables::Origin::set) return tuned;
  const TunedData::Hit hit = options.tuned->look_up(entry, bound, device);
  tuned.from = hit.how;
  if (hit.record == nullptr) return tuned;
  tuned.origin = ChosenTunables::Origin::tuned;
  tuned.values = hit.record->tunables;
  tuned.efficiency = hit.record->efficiency;
  tuned.exact = hit.exact;
  return tuned;
}

void check_verdicts(const Entry& entry, const Environment& values, const DeviceInfo& device,
                    const PlanOptions& options) {
  if (options.tuned == nullptr) return;
  const Verdict* verdict = options.tuned->verdict_on(entry, values, device);
  if (verdict == nullptr) return;
  throw UnsupportedError((values.empty() ? "it" : print_tunables(values)) +
                         " is refused on this device: " + verdict->why);
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
    const Entry* entry = catalogue.find_entry(kernel);
    if (entry == nullptr) {
      throw UsageError("--set " + kernel + ": the catalogue has no such kernel" +
                       (catalogue.find_recipe(kernel) != nullptr ? " (it is a recipe)" : "") +
                       "; with tunables it has:" + known_kernels(kernel, catalogue));
    }
    check_one(*entry, values);
  }
}

}  // namespace morton
