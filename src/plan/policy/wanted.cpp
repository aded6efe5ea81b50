// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/wanted.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::plan {

bool contains(const RecipePath& path, const std::string& name) {
  return std::find(path.begin(), path.end(), name) != path.end();
}

bool is_excluded(const std::string& name, const PlanContext& context) {
  return contains(context.options.exclude, name);
}

std::string wanted_for(const std::string& family, const PlanContext& context) {
  const auto& use = context.options.use;
  if (const auto wanted = use.find(family); wanted != use.end()) return wanted->second;
  const auto product = use.find(families::gemm);
  if (family != families::batched_gemm || product == use.end()) return {};
  const std::string twin = "batched_" + product->second;
  return context.catalogue.find_entry(twin) != nullptr ? twin : std::string();
}

bool is_named(const std::string& name, const std::string& family, const PlanOptions& options) {
  const auto wanted = options.use.find(family);
  return wanted != options.use.end() && wanted->second == name;
}

void require_named(const Nameable& one, const PlanContext& context) {
  if (!one.where_named || wanted_for(one.family, context) == one.name) return;
  throw UnsupportedError("it is considered only where --use " + one.family + "=" + one.name +
                         " asks for it");
}

bool is_wanted(const std::string& name, const std::string& family, const PlanContext& context,
               const RecipePath& path) {
  const std::string wanted = wanted_for(family, context);
  return wanted.empty() || wanted == name || contains(path, wanted);
}

}  // namespace morton::plan
