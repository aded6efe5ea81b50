// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/tune_kernels.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "api/compile/job.hpp"
#include "base/error.hpp"
#include "plan/make_plan.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/search/candidates.hpp"
#include "problems/products/gemm.hpp"
#include "tools/tuning/tune_problem.hpp"

namespace morton {
using namespace tools;
namespace {

/// Kernels that the cost model takes for slower than this many times the quickest are tuned only
/// when all are.
constexpr double kLikely = 4.0;
constexpr std::size_t kFewKernels = 2;

bool can_be_tuned(const Entry& entry) {
  return can_be_posed(entry.family) && entry.call.library.empty();
}

/// Candidates that are an entry alone, cheapest first.
std::vector<const Candidate*> entries_of(const CandidateList& list, const Catalogue& catalogue) {
  std::vector<const Candidate*> found;
  for (const Candidate& candidate : list.candidates) {
    const Entry* entry = catalogue.find_entry(candidate.name);
    if (entry != nullptr && can_be_tuned(*entry)) found.push_back(&candidate);
  }
  return found;
}

CandidateList candidates_for(const TunedProblem& problem, const Catalogue& catalogue,
                             const DeviceInfo& device) {
  const TaskList tasks = make_tasks(ModelAtShapes(model_of(problem), {}).graph());
  const KernelPolicy policy(catalogue, {});
  return list_candidates({problem.family, bound_of(problem)}, PlanContext{policy, device, tasks});
}

/// Whether it is a problem that this program tunes; files of others may hold more.
bool is_tuned_here(const TunedProblem& problem) {
  try {
    static_cast<void>(model_of(problem));
    return true;
  } catch (const UnsupportedError&) {
    return false;
  }
}

TuneProblem to_tune(const TunedProblem& problem) {
  return {problem.family.name() + " " + print_extents(problem), to_json(problem).dump()};
}

}  // namespace

std::map<std::string, std::int64_t> tools::plain(const Environment& values) {
  return {values.begin(), values.end()};
}

std::vector<const Entry*> tools::named_kernels(const std::vector<std::string>& names,
                                               const Catalogue& catalogue) {
  std::vector<const Entry*> kernels;
  for (const std::string& name : names) {
    const Entry* entry = catalogue.find_entry(name);
    if (entry == nullptr) entry = catalogue.find_entry("gemm." + name);
    if (entry == nullptr || !can_be_tuned(*entry)) {
      std::string known;
      for (const Entry& other : catalogue.entries()) {
        if (can_be_tuned(other)) known += "\n  " + other.name;
      }
      throw UsageError("tune: '" + name + "' is no kernel that can be tuned; there are:" + known);
    }
    if (std::ranges::find(kernels, entry) == kernels.end()) kernels.push_back(entry);
  }
  return kernels;
}

std::vector<const Entry*> tools::likely_kernels(const TunedProblem& problem,
                                                TuneOptions::Effort effort,
                                                const Catalogue& catalogue,
                                                const DeviceInfo& device) {
  const CandidateList list = candidates_for(problem, catalogue, device);
  std::vector<const Entry*> kernels;
  const auto candidates = entries_of(list, catalogue);
  for (const Candidate* candidate : candidates) {
    const bool slow = candidate->estimated_us > kLikely * candidates.front()->estimated_us;
    const bool enough = effort == TuneOptions::Effort::fast && kernels.size() == kFewKernels;
    if (effort != TuneOptions::Effort::full && (slow || enough)) break;
    kernels.push_back(catalogue.find_entry(candidate->name));
  }
  return kernels;
}

TuneProblem product_to_tune(const GemmShape& shape) { return to_tune(problem_of(shape)); }

std::vector<TuneProblem> problems_to_tune(const Model& model, const std::string& device_json,
                                          const CompileOptions& options,
                                          std::vector<std::string>& notes) {
  const DeviceInfo device = device_info_from_text(device_json);
  const Job job = job_of(model, options, store_of(options), device);
  const Plan plan = make_plan(job.subject->graph(), device, *job.policy);
  std::vector<TuneProblem> problems;
  std::set<std::string> seen, others;
  const auto add = [&](const TunedProblem& problem) {
    if (seen.insert(to_json(problem).dump()).second) problems.push_back(to_tune(problem));
  };
  for (const Step& step : plan.steps) {
    if (step.role != Step::Role::compute || step.transfer() != nullptr) continue;
    TunedProblem key = step.tuned_as;
    if (const std::optional<Family> one = one_of_products(key.family)) {
      key.family = *one;
      key.extents.erase("B");
      key.orders.clear();
    }
    if (!is_tuned_here(key)) {
      others.insert(step.kernel);
      continue;
    }
    add(key);
    // What was measured is compared with what was measured, not with first guesses.
    for (const TunedProblem& part : parts_of(key)) add(part);
  }
  std::string names;
  for (const std::string& kernel : others) names += (names.empty() ? "" : ", ") + kernel;
  if (!names.empty()) notes.push_back("what poses no problem that is tuned: " + names);
  return problems;
}

std::vector<FirstGuess> first_guesses(const std::string& device_json,
                                      const CompileOptions& options) {
  const DeviceInfo device = device_info_from_text(device_json);
  const std::shared_ptr<const Catalogue> shared = catalogue_of(options);
  const Catalogue& catalogue = *shared;
  const auto data = read_tuned(store_of(options), observer_of(options));
  std::map<std::string, std::vector<const TunedRecord*>> problems;
  if (data != nullptr) {
    for (const TunedRecord& record : data->records()) {
      const Entry* entry = catalogue.find_entry(record.kernel);
      const bool known = entry != nullptr && entry->program.digest.is(record.hash);
      if (!known || record.device.fingerprint != fingerprint(device)) continue;
      if (!is_tuned_here(record.problem)) continue;
      problems[to_json(record.problem).dump()].push_back(&record);
    }
  }
  std::vector<FirstGuess> guesses;
  for (const auto& [key, records] : problems) {
    const TunedProblem& problem = records.front()->problem;
    const CandidateList list = candidates_for(problem, catalogue, device);
    const auto candidates = entries_of(list, catalogue);
    const TunedRecord* best = *std::ranges::min_element(records, {}, &TunedRecord::ms);
    FirstGuess guess;
    guess.problem = problem.family.name() + " " + print_extents(problem);
    for (const auto& [operand, order] : problem.orders)
      guess.problem += ", " + operand + " " + order;
    if (!candidates.empty()) guess.guess = candidates.front()->name;
    for (const TunedRecord* record : records) {
      if (record->kernel == guess.guess) guess.guess_ms = record->standard_ms;
    }
    guess.best = best->kernel;
    guess.tunables = plain(best->tunables);
    guess.best_ms = best->ms;
    guess.best_gflops = best->gflops;
    guess.share_of_peak = best->gflops / best->peak_gflops;
    guesses.push_back(std::move(guess));
  }
  return guesses;
}

}  // namespace morton
