// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "api/cache/cache_folder.hpp"
#include "api/compile/job.hpp"
#include "api/compile/model_at_shapes.hpp"
#include "base/error.hpp"
#include "morton/tools/build.hpp"
#include "morton/tools/static_tuning.hpp"
#include "plan/cost/cost.hpp"
#include "plan/make_plan.hpp"
#include "plan/measured/tuned_store.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/policy/work_group.hpp"
#include "plan/single/single_kernel.hpp"
#include "tools/boards/static_cost.hpp"
#include "tools/inspect/kernel_text.hpp"
#include "tools/tuning/space.hpp"
#include "tools/tuning/tune_kernels.hpp"
#include "tools/tuning/tune_problem.hpp"
#include "tools/tuning/worker_client.hpp"

namespace morton {
using namespace tools;
namespace {

/// A kernel with values of its tunables, built.
struct Built {
  StaticCost cost;
  double items = 1.0;     ///< work-items of the example
  bool is_wrong = false;  ///< where it was executed
  StaticTuneResult result;
};

/// Whether another one with as many work-items costs no more however much they have to do, or an
/// earlier one as much.
bool is_beaten(const Built& built, const std::vector<Built>& all) {
  return std::ranges::any_of(all, [&](const Built& other) {
    if (&other == &built || other.items != built.items) return false;
    const double own = built.cost.turn / built.cost.operations;
    const double others = other.cost.turn / other.cost.operations;
    const bool is_less = other.cost.once < built.cost.once || others < own;
    return other.cost.once <= built.cost.once && others <= own && (is_less || &other < &built);
  });
}

/// Six digits say enough, and files stay readable.
double rounded(double value) {
  if (value == 0.0) return 0.0;
  const double scale = std::pow(10.0, 5.0 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

class StaticTuner {
 public:
  explicit StaticTuner(const StaticTuneOptions& options)
      : options_(options),
        device_(device_info_from_text(options.device_json)),
        builder_(options.worker, {options.device, options.catalogue_files, 1},
                 options.candidate_timeout_ms),
        checker_(options.worker, {options.check_device, options.catalogue_files, 1},
                 options.candidate_timeout_ms) {
    CompileOptions compile;
    compile.catalogue_files = options.catalogue_files;
    policy_ = policy_of(compile, {{}, {}, CompileOptions::Tuning::ignore}, {});
  }

  StaticTuneReport run() {
    const std::filesystem::path file = file_for(TunedDevice::of(device_));
    require_storable(file, TunedDevice::of(device_));
    const std::vector<const Entry*> entries = asked_entries();
    // A device that is not there is an error before the search, not in it.
    if (!options_.check_device.empty()) static_cast<void>(checker_.open());
    TunedData found;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      tell(static_cast<double>(i) / static_cast<double>(entries.size()), entries[i]->name);
      for (const Built& built : tuned(*entries[i])) {
        found.add(built.cost);
        report_.results.push_back(built.result);
      }
    }
    store_tuning(file, TunedDevice::of(device_), std::move(found), policy_->catalogue());
    report_.file = file.string();
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::filesystem::path file_for(const TunedDevice& device) const {
    if (!options_.output.empty()) return options_.output;
    const std::filesystem::path folder =
        tuning_folder(trusted_cache(cache_folder(options_.cache_dir)));
    if (!folder.empty()) return tuning_file(folder, device);
    throw UsageError("tune: no cache folder is known for the result: give " + setting("cache_dir"));
  }

  /// The catalogue's kernels that are asked for. A batched product is its single one's text.
  [[nodiscard]] std::vector<const Entry*> asked_entries() const {
    std::vector<const Entry*> entries;
    std::set<std::string> unknown(options_.kernels.begin(), options_.kernels.end());
    for (const Entry& entry : policy_->catalogue().entries()) {
      if (!entry.call.library.empty() || !entry.origin.batch_of.empty()) continue;
      unknown.erase(entry.name);
      const auto among = [](const std::vector<std::string>& names, const std::string& name) {
        return names.empty() || std::ranges::find(names, name) != names.end();
      };
      if (among(options_.kernels, entry.name) && among(options_.families, entry.family.name())) {
        entries.push_back(&entry);
      }
    }
    if (unknown.empty()) {
      if (!entries.empty()) return entries;
      throw UsageError("tune: the model's plan has no family of the kernels that are named");
    }
    fail_unknown_kernel(*unknown.begin(), policy_->catalogue());
  }

  /// What is worth keeping of the entry, the standard values first.
  std::vector<Built> tuned(const Entry& entry) {
    std::vector<Built> all;
    // Machine code says nothing of the size of work-groups.
    const std::vector<std::string> kept_as_they_are = work_group_tunables(entry);
    std::optional<SingleKernel> standard;
    try {
      standard = made_with(entry, standard_tunables(entry, environment_of(device_)));
    } catch (const UnsupportedError& why) {
      report_.refused.push_back({entry.name, "", why.what()});
      return {};
    }
    const SearchSpace space = search_space(entry, standard->spec.problem, device_, 1);
    try_values(entry, *standard, true, all);
    std::size_t texts = 1;
    for (const Environment& values : space.candidates) {
      const bool differs = std::ranges::any_of(kept_as_they_are, [&](const std::string& name) {
        return values.at(name) != space.standard.at(name);
      });
      if (differs || values == space.standard) continue;
      if (texts >= kMostTexts) {
        ++report_.untried;
        continue;
      }
      std::optional<SingleKernel> made;
      try {
        made = made_with(entry, values);
      } catch (const UnsupportedError&) {
        continue;  // the example is too small for them
      }
      ++texts;
      try_values(entry, *made, false, all);
    }
    std::erase_if(
        all, [](const Built& built) { return !built.result.is_standard && built.cost.spills > 0; });
    // What is wrong beats nothing.
    std::vector<Built> kept;
    for (bool has_wrong = true; has_wrong;) {
      kept.clear();
      has_wrong = false;
      for (Built& built : all) {
        if (!built.result.is_standard && is_beaten(built, all)) continue;
        built.is_wrong = !built.result.is_checked && !is_right(entry, built);
        has_wrong = has_wrong || built.is_wrong;
        kept.push_back(built);
      }
      std::erase_if(all, [](const Built& built) { return built.is_wrong; });
    }
    return kept;
  }

  [[nodiscard]] SingleKernel made_with(const Entry& entry, const Environment& values) const {
    PlanOptions options = policy_->options();
    if (!values.empty()) options.tunables[entry.name] = values;
    return single_kernel(entry, {}, policy_->catalogue(), device_, options,
                         ExampleEpilogue::of_a_network);
  }

  /// Builds the entry with these values.
  void try_values(const Entry& entry, const SingleKernel& made, bool is_standard,
                  std::vector<Built>& all) {
    const KernelText text = text_of(made, device_);
    const KernelBuild build = builder_.build(text);
    const std::string values = print_tunables(*made.choice.tunables);
    std::vector<CompilerStatistics> statistics;
    std::string why = build.problem;
    try {
      if (build.is_built) statistics = read_compiler_statistics(build.said);
    } catch (const ModelError& error) {
      why = error.what();
    }
    if (statistics.empty()) {
      if (build.is_built && why.empty()) fail_without_statistics();
      report_.failed.push_back({entry.name, values, why.substr(0, why.find('\n'))});
      return;
    }
    const ItemWork work = work_of(text);
    Built built;
    built.items = work_items(text.global);
    built.cost = static_cost_of(statistics.back(), work);
    built.cost.device = TunedDevice::of(device_);
    built.cost.kernel = entry.name;
    built.cost.hash = entry.program.digest.kernel;
    built.cost.tunables = *made.choice.tunables;
    for (double* value :
         {&built.cost.once, &built.cost.turn, &built.cost.operations, &built.cost.efficiency}) {
      *value = rounded(*value);
    }
    built.result = {entry.name,
                    plain(*made.choice.tunables),
                    is_standard,
                    false,
                    built.cost.of_item(work.operations) / std::max(work.operations, 1.0),
                    statistics.back()};
    problem_ = TunedProblem::of(*made.choice.bound);
    all.push_back(std::move(built));
  }

  [[noreturn]] void fail_without_statistics() {
    throw UnsupportedError("tune: the compiler of " + builder_.open().name +
                           " prints no statistics; Mesa's compilers for boards do, run by "
                           "tools/board_compilers.sh");
  }

  /// Whether the device that executes computes rightly with these values; true where it cannot say.
  bool is_right(const Entry& entry, Built& built) {
    if (options_.check_device.empty() || built.result.is_standard) return true;
    if (!can_be_posed(entry.family)) return true;
    if (checker_.open().name == builder_.open().name) {
      throw UsageError(
          "tune: " + checker_.open().name +
          " builds and executes nothing; candidates need another device to be executed on");
    }
    const TrialOutcome outcome =
        checker_.measure({problem_, entry.name, built.cost.tunables, std::nullopt, 1, 0.0}, 0.0);
    built.result.is_checked = outcome.kind == TrialOutcome::Kind::measured;
    if (outcome.kind != TrialOutcome::Kind::refused) return true;
    report_.wrong.push_back({entry.name, print_tunables(built.cost.tunables), outcome.why});
    return false;
  }

  void tell(double done, const std::string& what) const {
    if (options_.progress) options_.progress(done, what);
  }

  /// Texts of one kernel that are built.
  static constexpr std::size_t kMostTexts = 64;

  const StaticTuneOptions& options_;
  DeviceInfo device_;
  WorkerClient builder_, checker_;
  std::shared_ptr<const KernelPolicy> policy_;
  TunedProblem problem_;  ///< the example of the entry that is tuned
  StaticTuneReport report_;
};

}  // namespace

StaticTuneReport tune_static(const StaticTuneOptions& options) {
  return StaticTuner(options).run();
}

std::vector<std::string> families_of_plan(const Model& model, const std::string& device_json,
                                          const CompileOptions& options) {
  const DeviceInfo device = device_info_from_text(device_json);
  const Job job = job_of(model, options, store_of(options), device);
  const Plan plan = make_plan(job.subject->graph(), device, *job.policy);
  std::set<std::string> families;
  for (const Step& step : plan.steps) {
    const Entry* entry = job.policy->catalogue().find_entry(step.kernel);
    if (entry != nullptr) families.insert(entry->family.name());
  }
  return {families.begin(), families.end()};
}

}  // namespace morton
