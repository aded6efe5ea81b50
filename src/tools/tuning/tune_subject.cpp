// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/tune_subject.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "api/inside.hpp"
#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "catalogue/catalogue.hpp"
#include "ops/core/partial_reference.hpp"
#include "passes/pipeline.hpp"
#include "run/guarded_run.hpp"
#include "run/loaded_plan.hpp"
#include "tools/tuning/tune_problem.hpp"

namespace morton::tools {
namespace {

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

/// Options under which nothing but the kernel with these values computes a problem of the family.
CompileOptions only(const std::string& family, const std::string& kernel,
                    const Environment& tunables, CompileOptions options) {
  options.tuning = CompileOptions::Tuning::ignore;
  options.use = {{family, kernel}};
  for (const KernelInfo& other : kernels_of(family, options.catalogue_files)) {
    if (other.name == kernel) {
      options.precision = {other.precision, other.sums};
    }
    if (other.name != kernel) options.exclude.push_back(other.name);
  }
  if (!tunables.empty()) options.tunables[kernel].insert(tunables.begin(), tunables.end());
  return options;
}

/// Unit roundoff of the coarsest type in which the plan holds a value.
double unit_roundoff_of(const Plan& plan) {
  double unit = unit_roundoff(DType::f32);
  for (const Value& value : plan.values) {
    unit = std::max(unit, unit_roundoff(value.arrangement.dtype));
  }
  return unit;
}

/// A product of constants, and the rows of it that are known.
SubjectProblem::Data product_of(const GemmShape& shape, std::vector<NamedTensor> inputs,
                                Expectation::Rule rule, std::uint64_t seed) {
  const auto expectation =
      std::make_shared<Expectation>(gemm_reference(shape), std::move(inputs), rule, seed);
  return {with_constants(gemm_model(shape), expectation->inputs()),
          {},
          [expectation](const Tensor& dst, double unit_roundoff) {
            return expectation->compare(dst, unit_roundoff).complaint;
          }};
}

/// The first element of `dst` that is farther from the reference than its bound.
std::string complaint_of(const PartialReference& reference, const Tensor& dst) {
  const Tensor got = reference.channels ? take(dst, *reference.channels) : dst;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double difference = std::abs(got.at(i) - reference.value.value[at]);
    if (difference <= reference.value.error[at]) continue;
    return "element " + std::to_string(i) +
           (reference.channels ? " of the channels compared" : "") + " is " +
           std::to_string(got.at(i)) + ", expected " + std::to_string(reference.value.value[at]) +
           " within " + std::to_string(reference.value.error[at]);
  }
  return "";
}

/// An image through constant weights, and what must come out of it.
SubjectProblem::Data image_through(const Model& model, const std::vector<NamedTensor>& inputs,
                                   std::uint64_t seed) {
  // A second or so of the reference's time.
  constexpr std::int64_t kMostMultiplications = 50'000'000;
  Graph graph = Inside::of(model);
  PassOptions options;
  options.skip = {"fuse_epilogues"};  // the reference goes node by node
  run_passes(graph, options);
  KnownValues known;
  std::vector<NamedTensor> given, constants;
  for (const NamedTensor& input : inputs) {
    known[graph.find(input.name)] = input.tensor;
    (input.name == "src" ? given : constants).push_back(input);
  }
  const auto reference = std::make_shared<PartialReference>(
      partial_reference(graph, graph.outputs.front(), known, {kMostMultiplications, seed}));
  return {with_constants(model, constants), std::move(given),
          [reference](const Tensor& dst, double) { return complaint_of(*reference, dst); }};
}

/// The result of a run whose values lie between guards: what goes beyond its memory here would
/// spoil other values, or end the process, somewhere else.
Tensor guarded_result(const LoadedPlan& loaded, const std::vector<NamedTensor>& inputs,
                      const Catalogue& catalogue) {
  const GuardedResult result = run_guarded(loaded, inputs, Surroundings::guards, catalogue);
  if (!result.damage.empty()) throw TuneSubject::WrongResult("wrong: " + result.damage);
  return output_of(result, loaded.plan(), loaded.plan().outputs.front().name);
}

}  // namespace

SubjectProblem::SubjectProblem(const TunedProblem& problem, std::uint64_t seed)
    : family(problem.family) {
  const Model model = model_of(problem);
  const std::vector<NamedTensor> integers = integer_inputs(model.inputs(), seed);
  const std::vector<NamedTensor> reals = random_reals(model.inputs(), seed);
  if (problem.family == families::gemm) {
    const GemmShape shape = shape_of(problem);
    data.push_back(product_of(shape, integers, Expectation::Rule::exact, seed));
    data.push_back(product_of(shape, reals, Expectation::Rule::bounded, seed));
    return;
  }
  data.push_back(image_through(model, integers, seed));
  data.push_back(image_through(model, reals, seed));
}

TuneSubject::TuneSubject(const SubjectProblem& problem, const std::string& kernel,
                         const Environment& tunables, const Device& device,
                         const CompileOptions& options) {
  CompileOptions alone = only(problem.family, kernel, tunables, options);
  // Here the candidate's numbers are checked, before its time counts.
  alone.self_test = CompileOptions::SelfTest::off;
  for (const SubjectProblem::Data& data : problem.data) {
    const CompiledModel compiled = compile(data.model, device, alone);
    const LoadedPlan& loaded = *Inside::of(compiled)->loaded;
    session_ = std::make_unique<Session>(compiled);
    const bool is_first = &data == &problem.data.front();
    const Tensor dst = is_first ? guarded_result(loaded, data.inputs, *catalogue_of(alone))
                                : session_->run(data.inputs).front().tensor;
    const double unit = unit_roundoff_with(unit_roundoff_of(loaded.plan()), alone.precision.sums);
    const std::string complaint = data.complaint(dst, unit);
    if (!complaint.empty()) throw WrongResult("wrong result: " + complaint);
  }
  // What is measured runs on these numbers again and again.
  for (const NamedTensor& input : problem.data.back().inputs) {
    session_->set_input(input.name, input.tensor);
  }
  compute_share_ = measure_compute_share();
}

double TuneSubject::run_ms(int count) {
  const Stopwatch watch;
  for (int i = 0; i + 1 < count; ++i) static_cast<void>(session_->enqueue());
  session_->enqueue().wait();
  return watch.milliseconds() * compute_share_ / count;
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

}  // namespace morton::tools
