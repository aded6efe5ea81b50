// SPDX-License-Identifier: Apache-2.0
#include "api/tune_subject.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "api/compiled_state.hpp"
#include "api/tune_problem.hpp"
#include "base/error.hpp"
#include "catalogue/catalogue.hpp"

namespace morton {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<NamedTensor> random_reals(const std::vector<PortInfo>& ports, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<NamedTensor> inputs;
  for (const PortInfo& port : ports) {
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    for (float& value : tensor.as_mutable<float>()) {
      // 24 random bits, from -1 up to 1.
      value = static_cast<float>(generator() >> 40U) * 0x1p-23F - 1.0F;
    }
    inputs.push_back({port.name, std::move(tensor)});
  }
  return inputs;
}

/// Options under which nothing but the kernel with these values computes a product.
CompileOptions only(const std::string& kernel, const Environment& tunables,
                    CompileOptions options) {
  options.tuning = CompileOptions::Tuning::ignore;
  options.use = {{"gemm", kernel}};
  for (const KernelInfo& other : kernels_of("gemm", options.catalogue_files)) {
    if (other.name == kernel) options.precision = other.precision;
    if (other.name != kernel) options.exclude.push_back(other.name);
  }
  if (!tunables.empty()) options.tunables[kernel].insert(tunables.begin(), tunables.end());
  return options;
}

/// Unit roundoff of the coarsest type in which the plan holds a value.
double unit_roundoff_of(const Plan& plan) {
  double unit = 0x1p-24;
  for (const Value& value : plan.values) {
    if (value.arrangement.dtype == DType::bf16) unit = std::max(unit, 0x1p-8);
    if (value.arrangement.dtype == DType::tf32) unit = std::max(unit, 0x1p-11);
    if (value.arrangement.dtype == DType::f16) unit = std::max(unit, 0x1p-11);
  }
  return unit;
}

}  // namespace

SubjectProblem::SubjectProblem(const GemmShape& gemm, std::uint64_t seed)
    : shape(gemm),
      integers(gemm_reference(gemm), integer_inputs(gemm_model(gemm).inputs(), seed),
               Expectation::Rule::exact, seed),
      reals(gemm_reference(gemm), random_reals(gemm_model(gemm).inputs(), seed),
            Expectation::Rule::bounded, seed) {}

TuneSubject::TuneSubject(const SubjectProblem& problem, const std::string& kernel,
                         const Environment& tunables, const Device& device,
                         const CompileOptions& options) {
  CompileOptions alone = only(kernel, tunables, options);
  // Here the candidate's numbers are checked, before its time counts.
  alone.self_test = CompileOptions::SelfTest::off;
  for (const Expectation* expectation : {&problem.integers, &problem.reals}) {
    const Model model = constant_gemm_model(problem.shape, expectation->inputs());
    const CompiledModel compiled = compile(model, device, alone);
    session_ = std::make_unique<Session>(compiled);
    const auto outputs = session_->run({});
    const double unit = unit_roundoff_of(compiled.state()->loaded->plan());
    const auto result = expectation->compare(outputs.front().tensor, unit);
    if (!result.complaint.empty()) throw WrongResult("wrong result: " + result.complaint);
  }
  compute_share_ = measure_compute_share();
}

double TuneSubject::run_ms(int count) {
  const auto start = Clock::now();
  for (int i = 0; i + 1 < count; ++i) static_cast<void>(session_->enqueue());
  session_->enqueue().wait();
  const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  return elapsed.count() * compute_share_ / count;
}

double TuneSubject::measure_compute_share() {
  const std::vector<StepInfo> steps = session_->model().steps();
  if (std::ranges::none_of(
          steps, [](const StepInfo& step) { return step.role == StepInfo::Role::repack; })) {
    return 1.0;
  }
  session_->set_profiling(SessionOptions::Profiling::on);
  double compute_us = 0.0;
  double all_us = 0.0;
  constexpr int kRuns = 3;
  for (int run = 0; run < kRuns; ++run) {
    session_->enqueue().wait();
    const std::vector<StepTime> times = session_->step_times();
    for (std::size_t s = 0; s < times.size(); ++s) {
      const double us = times[s].device_us.value_or(0.0);
      all_us += us;
      if (steps[s].role == StepInfo::Role::compute) compute_us += us;
    }
  }
  session_->set_profiling(SessionOptions::Profiling::off);
  return compute_us > 0.0 ? compute_us / all_us : 1.0;
}

}  // namespace morton
