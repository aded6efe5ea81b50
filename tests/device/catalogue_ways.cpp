// SPDX-License-Identifier: Apache-2.0
#include "device/catalogue_ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "launch/library.hpp"
#include "ops/operator.hpp"
#include "passes/pipeline.hpp"
#include "plan/narrow.hpp"
#include "support/compare.hpp"

namespace morton::test {
namespace {

constexpr std::uint64_t kSeed = 2024;

/// True when some operand is a matrix in tiles, so that a tensor as it comes must be packed.
bool demands_tiles(const Entry& entry) {
  return entry.family != "pack" &&
         std::any_of(entry.operands.begin(), entry.operands.end(), [](const auto& operand) {
           return operand.second.memory == MemoryKind::buffer && operand.second.layout &&
                  operand.second.layout->loops().size() > 2;
         });
}

bool stores_less(const Entry& entry) {
  return std::any_of(entry.operands.begin(), entry.operands.end(),
                     [](const auto& operand) { return operand.second.stored.has_value(); });
}

/// Whether the kernel can be one of the recipe's: a transform for tiles of one size ("f4x4") is
/// none of Winograd's recipe for another.
bool fits(const Entry& entry, const Recipe& recipe) {
  const std::size_t tile = entry.name.find(".f");
  if (!entry.family.starts_with("winograd_") || tile == std::string::npos) return true;
  return recipe.name.ends_with("_" + entry.name.substr(tile + 2));
}

/// The recipe within which a kernel is tried that no operator asks for; null for all others.
const Recipe* recipe_around(const Entry& entry, const Catalogue& catalogue) {
  constexpr std::array kInside{"sum", "filter_gemm", "unfold2d", "fold2d"};
  const bool is_inside = std::ranges::count(kInside, entry.family) > 0;
  if (!entry.family.starts_with("winograd_") && !is_inside) return nullptr;
  for (const Recipe& recipe : catalogue.recipes()) {
    for (const RecipeStep& step : recipe.steps) {
      if (step.family == entry.family && fits(entry, recipe)) return &recipe;
    }
  }
  throw InternalError("no recipe poses " + entry.family);
}

/// NUMERICS_AND_TRUST's factors, and how many cases the recipes compute that are made for one kind
/// of convolution only.
void set_limits(Way& way, const std::string& recipe) {
  if (recipe.starts_with("conv2d.winograd_")) {
    way.transform = recipe.ends_with("_4x4") ? TransformError{128.0, 4} : TransformError{8.0, 2};
    way.rounds_whole_numbers = recipe.ends_with("_4x4");
    way.least_cases = 6;
  } else if (recipe.starts_with("conv2d.pointwise")) {
    way.least_cases = 6;
    way.use["gemm"] = "gemm.tile";
  } else if (recipe == "reduce.two_stages") {
    way.least_cases = 9;
    return;
  } else if (recipe != "gemm.split_k" && recipe != "conv_transpose2d.fold_gemm") {
    return;
  }
  // The same kernel for all sizes, so that the second shape has nothing to build.
  way.use["batched_gemm"] = "batched_gemm.tile";
}

/// The family by which the tests know problems that write a part of a tensor.
constexpr const char* kParts = "pack part";

bool writes_parts(const Entry& entry) {
  return entry.source.find("COORDINATES_OF_ROW") != std::string::npos;
}

Way way_of(const Entry& entry, const Catalogue& catalogue) {
  Way way{entry.name, entry.family, {{entry.family, entry.name}}, {entry.name}};
  way.terms_per_truncation = entry.terms_per_truncation;
  for (const auto& [role, format] : entry.operands) {
    if (format.stored) way.precision = *format.stored;
    if (format.stored && role == "dst") way.result = *format.stored;
  }
  if (const Recipe* recipe = recipe_around(entry, catalogue)) {
    way.family = recipe->family;
    way.use[recipe->family] = recipe->name;
    // A transform of weights runs when the plan is loaded and is no step of it.
    if (entry.family == "winograd_weights") way.kernels.clear();
    set_limits(way, recipe->name);
  }
  if (is_for_vectors(entry)) way.least_cases = 4;
  // Of the convolutions only those with a channel a group are theirs.
  if (entry.name.starts_with("conv2d.depthwise_")) way.least_cases = 11;
  if (entry.name.starts_with("conv2d.pointwise_")) way.least_cases = 6;
  if (writes_parts(entry)) way.family = kParts;
  if (entry.family != "pack" || writes_parts(entry)) return way;
  for (const Entry& partner : catalogue.entries()) {
    if (partner.family != "gemm" || !demands_tiles(partner) || stores_less(partner)) continue;
    way.family = partner.family;
    way.use[partner.family] = partner.name;
    return way;
  }
  throw InternalError("no kernel of the catalogue demands tiles");
}

bool is_detour(const Recipe& recipe) {
  return std::any_of(recipe.steps.begin(), recipe.steps.end(), [&](const RecipeStep& step) {
    return step.family == recipe.family && step.kernel.empty();
  });
}

/// The recipe with each entry of its steps' families in turn; the plan chooses the others.
std::vector<Way> ways_of(const Recipe& recipe, const Catalogue& catalogue) {
  Way plain{recipe.name, recipe.family, {{recipe.family, recipe.name}}, {}};
  if (is_detour(recipe)) plain.inside = Way::Inside::free;
  set_limits(plain, recipe.name);
  std::set<std::string> families;
  for (const RecipeStep& step : recipe.steps) {
    // Batched products and packing are tried by themselves; a transform of weights is no step.
    // So are products of whole images.
    const bool product = step.family == "gemm" && recipe.name.starts_with("conv2d.pointwise");
    const bool elsewhere = product || step.family == "batched_gemm" || step.family == "pack" ||
                           step.family == "winograd_weights" || step.family == recipe.family;
    if (!elsewhere && step.kernel.empty()) families.insert(step.family);
  }
  std::vector<Way> ways;
  for (const std::string& family : families) {
    for (const Entry& entry : catalogue.entries()) {
      if (entry.family != family || stores_less(entry) || !fits(entry, recipe)) continue;
      if (is_for_vectors(entry)) continue;  // a recipe's products seldom have one column
      Way chosen = plain;
      chosen.name += " with " + entry.name;
      chosen.use[family] = entry.name;
      chosen.kernels.insert(entry.name);
      ways.push_back(std::move(chosen));
    }
  }
  if (ways.empty()) ways.push_back(std::move(plain));
  return ways;
}

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

/// What cutting off a product's sums, in place of rounding them to nearest, may take from an
/// element of this value (docs/numerics.md); 0 where the way's kernel does not.
double truncation_of(const Way& way, const Prepared& prepared, double value) {
  if (way.terms_per_truncation == 0) return 0.0;
  const auto elements = static_cast<std::int64_t>(prepared.expected.value.size());
  std::int64_t cuts = 0;
  for (const Step& step : prepared.plan.steps) {
    if (!way.kernels.contains(step.kernel)) continue;
    const std::int64_t terms = step.flop / (2 * elements);
    cuts = std::max(cuts, terms / way.terms_per_truncation + 1);
  }
  return static_cast<double>(cuts) * 0x1p-23 * std::fabs(value);
}

Prepared prepare(const TestGraph& test, const DeviceInfo& device, const Catalogue& catalogue,
                 const Way& way) {
  Prepared prepared;
  prepared.test = rounded(test, way.precision);
  Graph graph = prepared.test.graph;
  run_passes(graph, {});
  PlanOptions options;
  options.use = way.use;
  options.tunables = way.tunables;
  options.precision = way.precision;
  options.libraries = available_libraries();
  prepared.plan = make_plan(graph, catalogue, device, options);
  prepared.expected =
      reference_outputs(prepared.test.graph, prepared.test.inputs, way.transform)[0];
  for (std::size_t i = 0; i < prepared.expected.error.size(); ++i) {
    const double value = prepared.expected.value[i];
    prepared.expected.error[i] =
        std::max(prepared.expected.error[i], truncation_of(way, prepared, value));
    prepared.expected.error[i] += rounding_of(way.result, value);
  }
  return prepared;
}

void expect_kernels(const Plan& plan, const std::set<std::string>& kernels) {
  std::set<std::string> used;
  for (const Step& step : plan.steps) used.insert(step.kernel);
  for (const std::string& kernel : kernels) {
    EXPECT_TRUE(used.contains(kernel)) << "the plan does not use " << kernel;
  }
}

Tensor run_by_runner(const std::shared_ptr<LoadedPlan>& loaded,
                     const std::vector<NamedTensor>& inputs) {
  Runner runner(loaded, OpenClDevice::QueueKind::plain);
  poison(runner);
  for (const NamedTensor& input : inputs) runner.write(runner.input(input.name), input.tensor);
  runner.enqueue();
  const int value = runner.output("y");
  const Plan& plan = loaded->plan();
  const Arrangement& arrangement = plan.values[static_cast<std::size_t>(value)].arrangement;
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
    const CheckedResult result = run_checked(*loaded, test.inputs, surroundings, catalogue);
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

bool is_long_run() { return std::getenv("MORTON_TEST_LONG") != nullptr; }

bool is_for_vectors(const Entry& entry) {
  return std::any_of(entry.require.begin(), entry.require.end(),
                     [](const Expression& requirement) { return requirement.print() == "N == 1"; });
}

std::string missing_library(const Way& way, const Catalogue& catalogue) {
  for (const std::string& kernel : way.kernels) {
    const Entry* entry = catalogue.find_entry(kernel);
    if (entry == nullptr || entry->library.empty()) continue;
    if (!available_libraries().contains(entry->library)) return entry->library;
  }
  return {};
}

std::vector<Way> all_ways(const Catalogue& catalogue) {
  std::vector<Way> ways;
  for (const Entry& entry : catalogue.entries()) {
    // What packs one layout is no choice for every operand: catalogue_pack_test.cpp runs it.
    if (!packs_one_layout(entry)) ways.push_back(way_of(entry, catalogue));
    // Where a step moves elements it is a problem of its own, not a product's operand.
    const bool moves = entry.family == "pack" && !writes_parts(entry) && !packs_one_layout(entry);
    if (moves)
      ways.push_back({entry.name + " alone", "pack", {{"pack", entry.name}}, {entry.name}});
  }
  for (const Recipe& recipe : catalogue.recipes()) {
    for (Way& way : ways_of(recipe, catalogue)) ways.push_back(std::move(way));
  }
  return ways;
}

Catalogue catalogue_without_detours(const std::filesystem::path& folder) {
  const char* given = std::getenv("MORTON_KERNEL_DIR");
  const std::filesystem::path kernels = given != nullptr ? given : MORTON_SOURCE_DIR "/src/kernels";
  std::filesystem::copy(kernels, folder, std::filesystem::copy_options::recursive);
  const Catalogue whole = Catalogue::from_folder(kernels);
  for (const Recipe& recipe : whole.recipes()) {
    if (!is_detour(recipe)) continue;
    const std::string file = recipe.name.substr(recipe.family.size() + 1) + ".json";
    if (!std::filesystem::remove(folder / recipe.family / file)) {
      throw InternalError("no file " + file + " for the recipe " + recipe.name);
    }
  }
  return Catalogue::from_folder(folder);
}

std::string test_name(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  return result;
}

TestGraph to_test_graph(const OperatorCase& test, DataKind kind) {
  constexpr const char* kNames[] = {"integers", "zero mean", "same sign"};
  TestGraph result;
  result.name =
      describe(test) + ", " + kNames[static_cast<int>(kind)] + ", seed " + std::to_string(kSeed);
  result.graph = make_graph(test, kSeed, kind);
  result.inputs = make_inputs(test, kSeed, kind);
  const bool exact = kind == DataKind::integers && is_exact_on_integers(test);
  result.check = exact ? TestGraph::Check::exact : TestGraph::Check::bound;
  return result;
}

std::vector<OperatorCase> shipped_cases() { return all_cases(MORTON_SOURCE_DIR "/tests/cases"); }

std::set<std::string> families_of(const OperatorCase& test) {
  // A convolution with a pool behind it is a case of kernels that do both.
  const bool is_pooled = test.op == "Conv" && std::ranges::any_of(test.then, [](const auto& step) {
                           return step.op.ends_with("Pool");
                         });
  if (is_pooled) return {"conv2d_pool"};
  Graph graph = make_graph(test, kSeed, DataKind::integers);
  run_passes(graph, {});
  std::set<std::string> families;
  for (const Node& node : graph.nodes) {
    if (operator_of(node).alias) continue;
    const auto tensor_at = [&](int id) -> const TaskTensor& {
      thread_local TaskTensor tensor;
      tensor.shape = graph.tensor(id).shape;
      return tensor;
    };
    for (const BoundProblem& bound : lower(graph, node)) {
      const bool is_pack = bound.problem.family == "pack";
      const bool is_part = is_pack && !bound.operands.at("dst").view.grouping;
      families.insert(is_part ? kParts : bound.problem.family);
      for (const auto& narrow : narrowed(bound, tensor_at)) families.insert(narrow.problem.family);
    }
  }
  return families;
}

WayReport run_graphs(const std::shared_ptr<OpenClDevice>& device, const Catalogue& catalogue,
                     const Way& way, const std::vector<TestGraph>& graphs, Execution execution) {
  WayReport report;
  std::vector<Prepared> prepared;
  for (const TestGraph& test : graphs) {
    try {
      prepared.push_back(prepare(test, device->info(), catalogue, way));
    } catch (const UsageError& error) {
      ++report.refused[reason_in(error.what())];
    } catch (const UnsupportedError& error) {
      ++report.refused[reason_in(error.what())];
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
