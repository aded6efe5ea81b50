// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// Names of the recipes that a task is a step of, outermost first. A recipe is not taken within
/// itself.
using RecipePath = std::vector<std::string>;

[[nodiscard]] bool contains(const RecipePath& path, const std::string& name);

/// True for an entry or recipe that PlanOptions::exclude names.
[[nodiscard]] bool is_excluded(const std::string& name, const PlanContext& context);

/// The entry or recipe that `use` asks for, or nothing. Who asks for a gemm kernel asks for it in
/// batches too.
[[nodiscard]] std::string wanted_for(const std::string& family, const PlanContext& context);

/// True where `use` names it for its family.
[[nodiscard]] bool is_named(const std::string& name, const std::string& family,
                            const PlanOptions& options);

/// An entry or recipe, as far as naming it goes.
struct Nameable {
  const std::string& name;
  const std::string& family;
  bool where_named = false;
};

/// Throws UnsupportedError for one that is considered only where it is named, and is not.
void require_named(const Nameable& one, const PlanContext& context);

/// Whether `use` lets this entry or recipe compute its family. A wanted recipe has free choice
/// inside.
[[nodiscard]] bool is_wanted(const std::string& name, const std::string& family,
                             const PlanContext& context, const RecipePath& path);

}  // namespace morton::plan
