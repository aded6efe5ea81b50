// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/kernel_policy.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "catalogue/generic.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/policy/use.hpp"
#include "plan/policy/work_group.hpp"
#include "problems/products/gemm.hpp"

namespace morton::plan {
namespace {

/// The options with full names. Throws UsageError where they name what is not there.
PlanOptions resolved(PlanOptions options, const Catalogue& catalogue) {
  options.use = resolve_use(options.use, catalogue);
  for (const auto& name : options.exclude) {
    if (catalogue.find_entry(name) == nullptr && catalogue.find_recipe(name) == nullptr) {
      throw UsageError(setting("exclude", name) + ": the catalogue has no such kernel or recipe" +
                       names_near(name, kernels_of("", catalogue)));
    }
  }
  check_work_group(options.local, catalogue);
  check_tunables(options.tunables, catalogue);
  return options;
}

const DecidedKernel* find_decided(const Entry& entry, const TaskDecision& decision) {
  const auto found = std::ranges::find(decision.kernels, entry.name, &DecidedKernel::entry);
  return found == decision.kernels.end() ? nullptr : &*found;
}

/// A recipe that poses the same family again (a product with its sides swapped) may lead to what is
/// wanted.
bool leads_to_own_family(const Recipe& recipe) {
  return std::any_of(recipe.steps.begin(), recipe.steps.end(), [&](const RecipeStep& step) {
    return step.family == recipe.family && step.kernel.empty();
  });
}

}  // namespace

bool contains(const RecipePath& path, const std::string& name) {
  return std::find(path.begin(), path.end(), name) != path.end();
}

KernelPolicy::KernelPolicy(std::shared_ptr<const Catalogue> catalogue, PlanOptions options)
    : catalogue_(std::move(catalogue)), options_(resolved(std::move(options), *catalogue_)) {}

KernelPolicy::KernelPolicy(const Catalogue& catalogue, PlanOptions options)
    : KernelPolicy(std::shared_ptr<const Catalogue>(std::shared_ptr<void>(), &catalogue),
                   std::move(options)) {}

std::vector<ConsideredEntry> KernelPolicy::entries_for(Family family,
                                                       const TaskPlace& place) const {
  const std::string wanted = wanted_for(family);
  const bool any = wanted.empty() || contains(place.path, wanted);
  std::vector<ConsideredEntry> considered;
  considered.reserve(64);  // as many as the largest family has
  for (const Entry& entry : catalogue_->entries()) {
    if (entry.family != family || (!any && entry.name != wanted)) continue;
    if (place.decision != nullptr && find_decided(entry, *place.decision) == nullptr) continue;
    considered.push_back({&entry, why_not({entry.name, family, entry.where_named}, wanted)});
  }
  return considered;
}

std::vector<ConsideredRecipe> KernelPolicy::recipes_for(Family family,
                                                        const TaskPlace& place) const {
  const std::string wanted = wanted_for(family);
  const bool any = wanted.empty() || contains(place.path, wanted);
  std::vector<ConsideredRecipe> considered;
  for (const Recipe& recipe : catalogue_->recipes()) {
    if (recipe.family != family || contains(place.path, recipe.name)) continue;
    if (!any && recipe.name != wanted && !leads_to_own_family(recipe)) continue;
    considered.push_back({&recipe, why_not({recipe.name, family, recipe.where_named}, wanted)});
  }
  return considered;
}

std::optional<Reason> KernelPolicy::why_not(const Nameable& one, const std::string& wanted) const {
  if (contains(options_.exclude, one.name)) return NotConsidered{NotConsidered::Why::excluded};
  if (contains(left_out_, one.name)) return NotConsidered{NotConsidered::Why::left_out};
  if (!one.where_named || one.name == wanted) return std::nullopt;
  return NotNamed{one.family, one.name};
}

std::string KernelPolicy::wanted_for(Family family) const {
  const auto& use = options_.use;
  if (const auto wanted = use.find(family); wanted != use.end()) return wanted->second;
  const std::optional<Family> one = one_of_products(family);
  const auto product = one ? use.find(*one) : use.end();
  if (product == use.end()) return {};
  const std::string twin = "batched_" + product->second;
  return catalogue_->find_entry(twin) != nullptr ? twin : std::string();
}

KernelPolicy KernelPolicy::among(std::shared_ptr<const BuiltKernels> built,
                                 MissingKernels missing) const {
  KernelPolicy other = *this;
  other.options_.built = std::move(built);
  other.options_.missing = missing;
  return other;
}

KernelPolicy KernelPolicy::generic() const {
  KernelPolicy other = *this;
  other.catalogue_ = generic_forms(*catalogue_);
  other.is_generic_ = true;
  // Values that were measured would make a kernel for each of them; verdicts hold.
  const auto verdicts = std::make_shared<TunedData>();
  if (options_.tuned != nullptr) {
    for (const Verdict& verdict : options_.tuned->verdicts()) verdicts->add(verdict);
  }
  other.options_.tuned = verdicts;
  return other;
}

KernelPolicy KernelPolicy::without(const std::vector<std::string>& names) const {
  KernelPolicy other = *this;
  other.left_out_.insert(other.left_out_.end(), names.begin(), names.end());
  return other;
}

KernelPolicy KernelPolicy::apart() const {
  KernelPolicy other = *this;
  other.options_.launches = PlanOptions::Launches::apart;
  return other;
}

KernelPolicy KernelPolicy::for_one_of_several_devices() const {
  KernelPolicy other = *this;
  other.options_.host_steps = PlanOptions::HostSteps::where_named;
  return other;
}

KernelPolicy KernelPolicy::with_step_kernel(Family family, const std::string& kernel) const {
  KernelPolicy other = *this;
  other.options_.use[family] = kernel;
  return other;
}

bool is_named(const std::string& name, Family family, const PlanOptions& options) {
  const auto wanted = options.use.find(family);
  return wanted != options.use.end() && wanted->second == name;
}

const Environment* decided_tunables(const Entry& entry, const TaskDecision* decision) {
  if (decision == nullptr) return nullptr;
  const DecidedKernel* kernel = find_decided(entry, *decision);
  return kernel == nullptr ? nullptr : &kernel->tunables;
}

}  // namespace morton::plan
