// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/kernel_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/cache/tried_kernels.hpp"
#include "api/compile/job.hpp"
#include "api/compile/kernel_trial.hpp"
#include "api/inside.hpp"
#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "morton/compile.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/single/single_kernel.hpp"
#include "problems/solver.hpp"
#include "run/guarded_run.hpp"
#include "tools/inspect/kernel_text.hpp"
#include "tools/inspect/kernel_trial_data.hpp"

namespace morton {
using namespace tools;
namespace {

std::shared_ptr<const Catalogue> catalogue_with(const std::vector<std::string>& files) {
  CompileOptions options;
  options.catalogue_files = files;
  return catalogue_of(options);
}

/// The problem's result by its definition, row-major.
std::vector<double> definition_of(const PosedProblem& posed,
                                  const std::vector<NamedTensor>& operands) {
  std::map<std::string, std::vector<double>> numbers;
  Indexed<TensorId, SolverTensor> tensors;
  for (const TaskTensor& tensor : posed.tasks.tensors) {
    tensors.add({tensor.dtype, tensor.shape, {}});
  }
  for (const auto& [role, tensor] : operands) {
    std::vector<double>& values = numbers[role];
    for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
    tensors[posed.bound.operands.at(role).tensor].value = values;
  }
  return solve(posed.bound, tensors);
}

bool is_floating(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}

/// How far an element may be off, as a share of the largest one: what hundreds of roundings of f32
/// may add up to, or a few of the coarsest type in memory.
double allowed_share(const Plan& plan) {
  constexpr double kOfSums = 1024.0;
  constexpr double kOfMemory = 16.0;
  double share = kOfSums * unit_roundoff(DType::f32);
  for (const Value& value : plan.values) {
    if (is_floating(value.arrangement.dtype)) {
      share = std::max(share, kOfMemory * unit_roundoff(value.arrangement.dtype));
    }
  }
  return share;
}

/// What is wrong with the result; empty where nothing is.
std::string complaint_of(const Tensor& got, const std::vector<double>& expected, const Plan& plan) {
  double largest = 1.0;
  for (const double value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const double allowed = is_floating(got.dtype()) ? allowed_share(plan) * largest : 0.0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double want = expected[static_cast<std::size_t>(i)];
    const double value = got.at(i);
    if (std::isnan(want)) continue;  // nothing is written there
    if (value == want || std::fabs(value - want) <= allowed) continue;
    return "element " + std::to_string(i) + " of dst is " + std::to_string(value) + ", expected " +
           std::to_string(want) + " within " + std::to_string(allowed);
  }
  return "";
}

/// What the kernel did wrong; empty where nothing. Fills in the values that it was built with.
std::string complaint_about(const Entry& entry, const Catalogue& catalogue,
                            const std::shared_ptr<OpenClDevice>& device, Environment& tunables) {
  SinglePlan single = single_plan(entry, sizes_to_check(entry.family.name()), catalogue,
                                  device->info(), PlanOptions{});
  tunables = single.plan.steps.front().tunables;
  const std::vector<NamedTensor> operands = operands_to_check(single.posed);
  const LoadedPlan loaded(std::move(single.plan), device);
  const GuardedResult result = run_guarded(loaded, operands, Surroundings::guards, catalogue);
  if (!result.damage.empty()) return result.damage.substr(0, result.damage.find('\n'));
  return complaint_of(output_of(result, loaded.plan(), "dst"),
                      definition_of(single.posed, operands), loaded.plan());
}

}  // namespace

KernelCheck check_kernel(const std::string& kernel, const Device& device,
                         const std::vector<std::string>& catalogue_files) {
  const auto catalogue = catalogue_with(catalogue_files);
  const Entry* entry = catalogue->find_entry(kernel);
  if (entry == nullptr) fail_unknown_kernel(kernel, *catalogue);
  if (!entry->call.library.empty()) {
    throw UsageError(kernel + " is a routine of a library, which is not checked here");
  }
  const Stopwatch watch;
  KernelCheck check;
  Environment tunables;
  try {
    check.why = complaint_about(*entry, *catalogue, Inside::of(device), tunables);
    if (!check.why.empty()) check.outcome = KernelCheck::Outcome::wrong;
  } catch (const UnsupportedError& error) {
    check.outcome = KernelCheck::Outcome::impossible;
    check.why = error.what();
  } catch (const DeviceError& error) {
    check.outcome = KernelCheck::Outcome::wrong;
    check.why = error.what();
  }
  check.tunables = {tunables.begin(), tunables.end()};
  check.milliseconds = watch.milliseconds();
  return check;
}

void refuse_kernels(const std::map<std::string, KernelCheck>& wrong, const Device& device,
                    const std::vector<std::string>& catalogue_files) {
  if (wrong.empty()) return;
  const OpenClDevice& opened = *Inside::of(device);
  const auto catalogue = catalogue_with(catalogue_files);
  TunedData verdicts;
  for (const auto& [kernel, check] : wrong) {
    add_verdict({kernel, {check.tunables.begin(), check.tunables.end()}}, check.why, opened.info(),
                *catalogue, verdicts);
  }
  TriedKernels(opened.cache_folder(), opened.info()).add(verdicts, *catalogue);
}

}  // namespace morton
