// SPDX-License-Identifier: Apache-2.0
#include "problems/family.hpp"

#include "base/error.hpp"
#include "base/rooms.hpp"

namespace morton::problems {
namespace {

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> kNames{
#define MORTON_FAMILY(name) #name,
#include "problems/families.def"
#undef MORTON_FAMILY
  };
  return kNames;
}

}  // namespace

const std::string& Family::name() const {
  static const std::string kNoName;
  return number_ == kNone ? kNoName : family_names()[number_];
}

const ProblemFamily& Family::operator*() const {
  if (number_ == kNone) throw InternalError("a problem is of no family");
  return problem_families()[number_];
}

const std::vector<ProblemFamily>& problem_families() {
  static const std::vector<ProblemFamily> kFamilies{
#define MORTON_FAMILY(name) family_##name(),
#include "problems/families.def"
#undef MORTON_FAMILY
  };
  return kFamilies;
}

const ProblemFamily* find_problem_family(std::string_view name) {
  for (const auto& family : problem_families()) {
    if (family.name() == name) return &family;
  }
  return nullptr;
}

std::string names_of_families() {
  std::string text;
  for (const std::string& name : family_names()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace morton::problems
