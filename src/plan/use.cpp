// SPDX-License-Identifier: Apache-2.0
#include "plan/use.hpp"

#include "base/error.hpp"
#include "base/problem.hpp"

namespace morton {
namespace {

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
      throw UsageError("--use: there is no family of problems '" + family + "'");
    }
    const std::string full = family_of(name, catalogue).empty() ? family + "." + name : name;
    const std::string computes = family_of(full, catalogue);
    if (computes.empty()) {
      const auto why = catalogue.left_out().find(name);
      throw UsageError("--use " + family + "=" + name + ": " +
                       (why != catalogue.left_out().end()
                            ? why->second
                            : "the catalogue has no such kernel or recipe"));
    }
    if (computes != family) {
      throw UsageError("--use " + family + "=" + name + ": it computes " + computes);
    }
    resolved.emplace(family, full);
  }
  return resolved;
}

}  // namespace morton
