// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/use.hpp"

#include "base/error.hpp"
#include "base/text/near_names.hpp"
#include "catalogue/r17_restrictions.hpp"
#include "problems/problem.hpp"

namespace morton::plan {
namespace {

/// The family of the entry or recipe named `name`; empty where there is none.
std::string family_of(const std::string& name, const Catalogue& catalogue) {
  if (const Entry* entry = catalogue.find_entry(name)) return entry->family;
  if (const Recipe* recipe = catalogue.find_recipe(name)) return recipe->family;
  return {};
}

std::vector<std::string_view> all_families() {
  std::vector<std::string_view> names;
  for (const ProblemFamily& family : problem_families()) names.push_back(family.name());
  return names;
}

}  // namespace

std::vector<std::string_view> kernels_of(std::string_view family, const Catalogue& catalogue) {
  std::vector<std::string_view> names;
  for (const Entry& entry : catalogue.entries()) {
    if (family.empty() || entry.family == family) names.push_back(entry.name);
  }
  for (const Recipe& recipe : catalogue.recipes()) {
    if (family.empty() || recipe.family == family) names.push_back(recipe.name);
  }
  return names;
}

Message names_near(std::string_view given, const std::vector<std::string_view>& names) {
  std::string near;
  for (const std::string& name : near_names(given, names))
    near += (near.empty() ? "" : ", ") + name;
  return (near.empty() ? "" : "; near it: " + near) + " (" + setting("kernel_names") +
         " lists all kernels)";
}

std::map<std::string, std::string> resolve_use(const std::map<std::string, std::string>& use,
                                               const Catalogue& catalogue) {
  std::map<std::string, std::string> resolved;
  for (const auto& [family, name] : use) {
    if (find_problem_family(family) == nullptr) {
      throw UsageError(setting("use") + ": there is no family of problems '" + family + "'" +
                       names_near(family, all_families()));
    }
    const std::string full = name.starts_with(family + ".") || !family_of(name, catalogue).empty()
                                 ? name
                                 : family + "." + name;
    const std::string computes = family_of(full, catalogue);
    if (computes.empty()) {
      // A kernel of a library that was left out has no family, so no part of its name says one.
      const auto why = catalogue.left_out().find(name);
      throw UsageError(
          setting("use", family + "=" + name) + ": " +
          (why != catalogue.left_out().end()
               ? Message(why->second.why + "; R17's conventions are for " + r17_conventions())
               : "the catalogue has no such kernel or recipe of this family" +
                     names_near(full, kernels_of(family, catalogue))));
    }
    if (computes != family) {
      throw UsageError(setting("use", family + "=" + name) + ": it computes " + computes);
    }
    resolved.emplace(family, full);
  }
  return resolved;
}

}  // namespace morton::plan
