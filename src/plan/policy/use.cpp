// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/use.hpp"

#include "base/error.hpp"
#include "problems/problem.hpp"

namespace morton::plan {
namespace {

/// A line for each entry and recipe of the family.
std::string kernels_text(const std::string& family, const Catalogue& catalogue) {
  std::string text;
  for (const Entry& entry : catalogue.entries()) {
    if (entry.family == family) text += "\n  " + entry.name;
  }
  for (const Recipe& recipe : catalogue.recipes()) {
    if (recipe.family == family) text += "\n  " + recipe.name;
  }
  return text;
}

/// The family of the entry or recipe named `name`; empty where there is none.
std::string family_of(const std::string& name, const Catalogue& catalogue) {
  if (const Entry* entry = catalogue.find_entry(name)) return entry->family;
  if (const Recipe* recipe = catalogue.find_recipe(name)) return recipe->family;
  return {};
}

}  // namespace

std::map<std::string, std::string> resolve_use(const std::map<std::string, std::string>& use,
                                               const Catalogue& catalogue) {
  std::map<std::string, std::string> resolved;
  for (const auto& [family, name] : use) {
    if (find_problem_family(family) == nullptr) {
      throw UsageError(setting("use") + ": there is no family of problems '" + family +
                       "'; there are " + names_of_families());
    }
    const std::string full = family_of(name, catalogue).empty() ? family + "." + name : name;
    const std::string computes = family_of(full, catalogue);
    if (computes.empty()) {
      const auto why = catalogue.left_out().find(name);
      throw UsageError(setting("use", family + "=" + name) + ": " +
                       (why != catalogue.left_out().end()
                            ? why->second
                            : "the catalogue has no such kernel or recipe of this family; it has:" +
                                  kernels_text(family, catalogue)));
    }
    if (computes != family) {
      throw UsageError(setting("use", family + "=" + name) + ": it computes " + computes);
    }
    resolved.emplace(family, full);
  }
  return resolved;
}

}  // namespace morton::plan
