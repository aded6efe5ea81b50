// SPDX-License-Identifier: Apache-2.0
#include "device/catalogue/catalogue_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "device/plan_memory.hpp"
#include "launch/library.hpp"
#include "passes/pipeline.hpp"
#include "plan/ir/print.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "run/guarded_run.hpp"
#include "support/compare.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::uint64_t kRunSeed = 2024;

/// How far storing a value as `type` may move it.
double rounding_of(DType type, double value) {
  switch (type) {
    case DType::f16:  // 11 bits; below 2^-14 the steps are of 2^-24
      return std::max(std::fabs(value) * 0x1p-11, 0x1p-25);
    case DType::tf32:  // 11 bits, exponents as f32's
      return std::fabs(value) * 0x1p-11;
    case DType::bf16:  // 8 bits
      return std::fabs(value) * 0x1p-8;
    default:
      return 0.0;
  }
}

/// The values as a kernel that keeps them as `type` sees them.
Tensor rounded(const Tensor& tensor, DType type) {
  if (type == DType::f32 || tensor.dtype() != DType::f32) return tensor;
  return tensor.converted(type).converted(DType::f32);
}

TestGraph rounded(const TestGraph& test, DType type) {
  TestGraph result = test;
  for (GraphTensor& tensor : result.graph.tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) tensor.data = rounded(tensor.data, type);
  }
  for (NamedTensor& input : result.inputs) input.tensor = rounded(input.tensor, type);
  return result;
}

/// A graph that is planned, and what it should give.
struct Prepared {
  TestGraph test;
  ReferenceTensor expected;
  Plan plan;
};

/// Most terms of the sums that the way's kernels add up.
std::int64_t terms_of(const Way& way, const Prepared& prepared) {
  const auto elements = static_cast<std::int64_t>(prepared.expected.value.size());
  std::int64_t terms = 0;
  for (const Step& step : prepared.plan.steps) {
    if (way.kernels.contains(step.kernel)) {
      terms = std::max(terms, step.cost.flop / (2 * elements));
    }
  }
  return terms;
}

/// What cutting off a product's sums, in place of rounding them to nearest, may take from an
/// element of this value (docs/numerics.md); 0 where the way's kernel does not.
double truncation_of(const Way& way, const Prepared& prepared, double value) {
  if (way.sums.terms_per_truncation == 0) return 0.0;
  const std::int64_t cuts = terms_of(way, prepared) / way.sums.terms_per_truncation + 1;
  return static_cast<double>(cuts) * 0x1p-23 * std::fabs(value);
}

/// The type to which the way's kernels round what they give: that of the entry, or of memory where
/// the plan keeps a value between its steps as halves.
DType result_of(const Way& way, const Plan& plan) {
  for (const Step& step : plan.steps) {
    if (!way.kernels.contains(step.kernel)) continue;
    const DType kept = plan.values[step.writes[0]].arrangement.dtype;
    if (kept == DType::f16 || kept == DType::bf16) return kept;
  }
  return way.result;
}

/// What lost shares may take from an element.
double lost_of(const Way& way, const Prepared& prepared) {
  if (way.sums.lost_share == 0.0) return 0.0;
  double most = 0.0;
  for (const NamedTensor& input : prepared.test.inputs) {
    if (input.tensor.dtype() != DType::f32) continue;
    for (const float value : input.tensor.as<float>())
      most = std::max(most, std::fabs(double{value}));
  }
  return way.sums.lost_share * static_cast<double>(terms_of(way, prepared)) * most;
}

/// Allows what sums in f16 may be off: 4 * 2^-11 of the magnitudes in place of 8 * 2^-24, and for
/// each term half a step of the smallest numbers (docs/numerics.md). A result that a ReLU has made
/// an exact 0 may be off by as much as another one.
void allow_sums_in_f16(const Way& way, Prepared& prepared) {
  std::vector<double>& errors = prepared.expected.error;
  const double least = static_cast<double>(terms_of(way, prepared)) * 0x1p-25;
  for (double& error : errors) error = 4096.0 * error + least;
  const double most = *std::ranges::max_element(errors);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (prepared.expected.value[i] == 0.0 && errors[i] == least) errors[i] = most;
  }
}

Plan plan_of(Graph graph, const DeviceInfo& device, const Catalogue& catalogue, const Way& way) {
  run_passes(graph, {});
  PlanOptions options;
  options.use = way.use;
  options.exclude = way.exclude;
  options.tunables = way.tunables;
  options.precision = way.precision;
  if (way.sums.in_f16) options.sums = DType::f16;
  options.libraries = available_libraries();
  return make_plan(graph, catalogue, device, options);
}

Prepared prepare(TestGraph test, Plan plan, const Way& way) {
  Prepared prepared;
  prepared.test = std::move(test);
  prepared.plan = std::move(plan);
  prepared.expected =
      reference_outputs(prepared.test.graph, prepared.test.inputs, way.transform)[0];
  const double lost = lost_of(way, prepared);
  const DType result = result_of(way, prepared.plan);
  for (std::size_t i = 0; i < prepared.expected.error.size(); ++i) {
    const double value = prepared.expected.value[i];
    prepared.expected.error[i] =
        std::max(prepared.expected.error[i], truncation_of(way, prepared, value));
    prepared.expected.error[i] += lost + rounding_of(result, value);
  }
  if (way.sums.in_f16) allow_sums_in_f16(way, prepared);
  return prepared;
}

void expect_kernels(const Plan& plan, const std::set<std::string>& kernels) {
  std::set<std::string> used;
  for (const Step& step : plan.steps) used.insert(step.kernel);
  for (const std::string& kernel : kernels) {
    EXPECT_TRUE(used.contains(kernel)) << "the plan does not use " << kernel << "\n"
                                       << print(plan, PlanDetail::brief);
  }
}

Tensor run_by_runner(const std::shared_ptr<LoadedPlan>& loaded,
                     const std::vector<NamedTensor>& inputs) {
  Runner runner(loaded, OpenClDevice::QueueKind::plain);
  poison(runner);
  for (const NamedTensor& input : inputs) runner.write(runner.input(input.name), input.tensor);
  runner.enqueue();
  const ValueId value = runner.output("y");
  const Plan& plan = loaded->plan();
  const Arrangement& arrangement = plan.values[value].arrangement;
  Tensor result = Tensor::allocate(arrangement.dtype, arrangement.tensor_shape);
  runner.read(value, result);
  return result;
}

void run_one(const Prepared& prepared, const std::shared_ptr<OpenClDevice>& device,
             const Catalogue& catalogue, const Way& way, Execution execution) {
  const TestGraph& test = prepared.test;
  const auto loaded = std::make_shared<LoadedPlan>(prepared.plan, device);
  Tensor got;
  if (execution == Execution::runner) {
    got = run_by_runner(loaded, test.inputs);
  } else {
    const auto surroundings =
        execution == Execution::guarded ? Surroundings::guards : Surroundings::nothing;
    const GuardedResult result = run_guarded(*loaded, test.inputs, surroundings, catalogue);
    EXPECT_EQ(result.damage, "");
    got = output_of(result, loaded->plan(), "y");
  }
  const bool exact = test.check == TestGraph::Check::exact && !way.rounds_whole_numbers;
  const Comparison comparison =
      exact ? compare_exactly(prepared.expected, got) : compare(prepared.expected, got);
  EXPECT_TRUE(comparison.ok()) << comparison.text << print(prepared.plan, PlanDetail::brief);
}

/// The last line of a refusal names the kernel and the reason.
std::string reason_in(const std::string& message) {
  const std::size_t line = message.rfind('\n');
  if (line == std::string::npos) return message;
  return message.substr(message.find_first_not_of(' ', line + 1));
}

}  // namespace

TestGraph to_test_graph(const OperatorCase& test, DataKind kind) {
  constexpr const char* kNames[] = {"integers", "zero mean", "same sign"};
  TestGraph result;
  result.name =
      describe(test) + ", " + kNames[static_cast<int>(kind)] + ", seed " + std::to_string(kRunSeed);
  result.graph = make_graph(test, kRunSeed, kind);
  result.inputs = make_inputs(test, kRunSeed, kind);
  const bool exact = kind == DataKind::integers && is_exact_on_integers(test);
  result.check = exact ? TestGraph::Check::exact : TestGraph::Check::bound;
  return result;
}

TriedPlan try_plan(const TestGraph& test, const DeviceInfo& device, const Catalogue& catalogue,
                   const Way& way) {
  try {
    return {plan_of(test.graph, device, catalogue, way), ""};
  } catch (const UsageError& error) {
    return {std::nullopt, reason_in(error.what())};
  } catch (const UnsupportedError& error) {
    return {std::nullopt, reason_in(error.what())};
  }
}

std::vector<OperatorCase> possible_cases(const std::vector<OperatorCase>& all,
                                         const DeviceInfo& device, const Catalogue& catalogue,
                                         const Way& way, std::size_t most) {
  constexpr std::size_t kStep = 10007;  // a prime beyond any list's length, so that it meets each
  std::vector<OperatorCase> found;
  for (std::size_t i = 0; i < all.size() && (is_long_run() || found.size() < most); ++i) {
    const OperatorCase& test = all[i * kStep % all.size()];
    if (!families_of(test).contains(way.family)) continue;
    const TestGraph graph = to_test_graph(test, DataKind::integers);
    if (try_plan(graph, device, catalogue, way).plan) found.push_back(test);
  }
  return found;
}

WayReport run_graphs(const std::shared_ptr<OpenClDevice>& device, const Catalogue& catalogue,
                     const Way& way, const std::vector<TestGraph>& graphs, Execution execution) {
  WayReport report;
  std::vector<Prepared> prepared;
  for (const TestGraph& given : graphs) {
    TestGraph test = rounded(given, way.precision);
    TriedPlan tried = try_plan(test, device->info(), catalogue, way);
    if (tried.plan) {
      prepared.push_back(prepare(std::move(test), std::move(*tried.plan), way));
    } else {
      ++report.refused[tried.refusal];
    }
  }
  std::vector<Plan*> plans;
  for (Prepared& one : prepared) plans.push_back(&one.plan);
  share_program(plans);
  const int before = device->programs().builds();
  for (const Prepared& one : prepared) {
    SCOPED_TRACE(way.name + ": " + one.test.name);
    expect_kernels(one.plan, way.kernels);
    run_one(one, device, catalogue, way, execution);
    ++report.graphs;
  }
  report.programs_built = device->programs().builds() - before;
  return report;
}

std::string print(const Way& way, const WayReport& report) {
  std::string text = way.name + ": " + std::to_string(report.graphs) + " graphs\n";
  for (const auto& [reason, count] : report.refused) {
    text += "  " + std::to_string(count) + " refused: " + reason + "\n";
  }
  return text;
}

}  // namespace morton::test
