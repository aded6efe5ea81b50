// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/rejection.hpp"

namespace morton::plan {

/// Names of the recipes that a task is a step of, outermost first. A recipe is not taken within
/// itself.
using RecipePath = std::vector<std::string>;

[[nodiscard]] bool contains(const RecipePath& path, const std::string& name);

/// Where kernels for a task are looked for.
struct TaskPlace {
  const RecipePath& path;
  const TaskDecision* decision = nullptr;  ///< what the kernels must be; null: anything
};

/// An entry that a task's family offers, and why it may not compute the task; none where it may.
struct ConsideredEntry {
  const Entry* entry = nullptr;
  std::optional<Reason> why_not;
};

/// Likewise a recipe.
struct ConsideredRecipe {
  const Recipe* recipe = nullptr;
  std::optional<Reason> why_not;
};

/// What planning may consider, and with which values. It is made once, when names are resolved and
/// checked; then it is only read. Changes make another policy.
class KernelPolicy {
 public:
  /// Throws UsageError where `use`, `exclude`, `local` or `tunables` name what the catalogue has
  /// not.
  KernelPolicy(std::shared_ptr<const Catalogue> catalogue, PlanOptions options);
  /// Likewise for a catalogue that outlives the policy.
  MORTON_FOR_TOOLS KernelPolicy(const Catalogue& catalogue, PlanOptions options);

  [[nodiscard]] const Catalogue& catalogue() const { return *catalogue_; }
  /// As given, `use` with full names.
  [[nodiscard]] const PlanOptions& options() const { return options_; }

  /// Every entry of the family that `use` and the task's decision let in, in the catalogue's order.
  /// A wanted recipe has free choice inside.
  [[nodiscard]] std::vector<ConsideredEntry> entries_for(Family family,
                                                         const TaskPlace& place) const;
  /// Likewise its recipes, and those that may lead to what is wanted: they pose the family again.
  [[nodiscard]] std::vector<ConsideredRecipe> recipes_for(Family family,
                                                          const TaskPlace& place) const;
  /// The entry or recipe that `use` asks for, or nothing. Who asks for a gemm kernel asks for it in
  /// batches too.
  [[nodiscard]] std::string wanted_for(Family family) const;

  /// As PlanOptions::built and PlanOptions::missing say it.
  [[nodiscard]] KernelPolicy among(std::shared_ptr<const BuiltKernels> built,
                                   MissingKernels missing) const;
  /// For a plan that is to answer at once: kernels in their generic forms
  /// (catalogue/generic.hpp), with their standard values, and whatever else is left must be built.
  [[nodiscard]] KernelPolicy generic() const;
  /// Whether it is such a policy, under which estimates count what building takes.
  [[nodiscard]] bool is_generic() const { return is_generic_; }
  /// These entries or recipes compute wrongly and may not be used either.
  [[nodiscard]] KernelPolicy without(const std::vector<std::string>& names) const;
  /// Each kernel has a launch of its own.
  [[nodiscard]] KernelPolicy apart() const;
  /// For one of several devices: none of them waits while the host computes, unless that is asked
  /// for by name.
  [[nodiscard]] KernelPolicy for_one_of_several_devices() const;
  /// For a step of a recipe that names its kernel.
  [[nodiscard]] KernelPolicy with_step_kernel(Family family, const std::string& kernel) const;

 private:
  /// An entry or recipe, as far as naming it goes.
  struct Nameable {
    const std::string& name;
    Family family;
    bool where_named = false;
  };
  [[nodiscard]] std::optional<Reason> why_not(const Nameable& one, const std::string& wanted) const;

  std::shared_ptr<const Catalogue> catalogue_;
  bool is_generic_ = false;
  PlanOptions options_;
  std::vector<std::string> left_out_;  ///< beside what the options exclude
};

/// True where `use` names the entry for its family.
[[nodiscard]] bool is_named(const std::string& name, Family family, const PlanOptions& options);

/// The values of the entry's tunables that are decided; null where none are.
[[nodiscard]] const Environment* decided_tunables(const Entry& entry, const TaskDecision* decision);

}  // namespace morton::plan
