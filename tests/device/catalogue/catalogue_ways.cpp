// SPDX-License-Identifier: Apache-2.0
#include "device/catalogue/catalogue_ways.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/error.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/pipeline.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/tasks/narrow.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

constexpr std::uint64_t kWaySeed = 2024;

/// True when some operand is a matrix in tiles, so that a tensor as it comes must be packed.
bool demands_tiles(const Entry& entry) {
  return entry.family != families::pack &&
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
  if (!entry.family.name().starts_with("winograd_") || tile == std::string::npos) return true;
  return recipe.name.ends_with("_" + entry.name.substr(tile + 2));
}

/// The recipe within which a kernel is tried that no operator asks for; null for all others.
const Recipe* recipe_around(const Entry& entry, const Catalogue& catalogue) {
  constexpr std::array kInside{families::sum, families::filter_gemm, families::unfold2d,
                               families::fold2d, families::parted_recurrence};
  const bool is_inside = std::ranges::count(kInside, entry.family) > 0;
  if (!entry.family.name().starts_with("winograd_") && !is_inside) return nullptr;
  for (const Recipe& recipe : catalogue.recipes()) {
    for (const RecipeStep& step : recipe.steps) {
      const bool is_open = step.kernel.empty() || step.kernel == entry.name;
      if (step.family == entry.family && is_open && fits(entry, recipe)) return &recipe;
    }
  }
  throw InternalError("no recipe poses " + entry.family.name());
}

/// The factors of transforms (docs/numerics.md), and how many cases the recipes compute that are
/// made for one kind of convolution only.
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
  } else if (recipe == "conv2d.channel_parts") {
    // Those of one group whose channels part evenly, and which gather.
    way.least_cases = 16;
    return;
  } else if (recipe != "gemm.split_k" && recipe != "conv2d.im2col_parts" &&
             recipe != "conv_transpose2d.fold_gemm") {
    return;
  }
  // The same kernel for all sizes, so that the second shape has nothing to build.
  way.use["batched_gemm"] = "batched_gemm.tile";
}

/// The family by which the tests know problems that write a part of a tensor.
constexpr const char* kParts = "pack part";

Way way_of(const Entry& entry, const Catalogue& catalogue) {
  Way way{entry.name, entry.family, {{entry.family, entry.name}}, {entry.name}};
  way.sums.terms_per_truncation = entry.sums.terms_per_truncation;
  if (entry.name.starts_with("attention.mma_f16")) way.sums.lost_share = 0x1p-40;
  way.sums.in_f16 = entry.sums.terms_in_f16 > 0;
  for (const auto& [role, format] : entry.operands) {
    if (format.stored) way.precision = *format.stored;
    if (format.stored && role == "dst") way.result = *format.stored;
  }
  // It holds whole numbers up to 256; a half those up to 2048, as far as the cases go.
  if (way.result == DType::bf16) way.rounds_whole_numbers = true;
  if (const Recipe* recipe = recipe_around(entry, catalogue)) {
    way.family = recipe->family;
    way.use[recipe->family] = recipe->name;
    // A transform of weights runs when the plan is loaded and is no step of it.
    if (entry.family == families::winograd_weights) way.kernels.clear();
    set_limits(way, recipe->name);
  }
  if (is_for_vectors(entry)) way.least_cases = 4;
  // Of the convolutions only those with a channel a group are theirs.
  if (entry.name.starts_with("conv2d.depthwise_")) way.least_cases = 11;
  if (entry.name.starts_with("conv2d.pointwise_")) way.least_cases = 6;
  // Of types and operations those of networks.
  if (entry.name.starts_with("elementwise.program")) way.least_cases = 300;
  if (entry.name == "conv2d.groups_blocks") way.least_cases = 3;
  if (entry.name == "conv2d.groups_patch") way.least_cases = 8;
  if (entry.name == "conv2d.blocks_16") way.least_cases = 2;
  if (entry.name.starts_with("conv2d.filter_")) way.least_cases = 2;
  if (entry.name.starts_with("conv2d.row_vectors_")) way.least_cases = 11;
  if (entry.family == families::integer_conv2d && entry.name != "integer_conv2d.naive") {
    way.least_cases = entry.name == "integer_conv2d.quads_few" ? 2 : 4;
  }
  if (entry.name.ends_with("integer_gemm.dots")) way.least_cases = 9;
  if (entry.name == "top_k.sorted") way.least_cases = 5;
  if (entry.name == "scatter.groups") way.least_cases = 9;
  if (entry.family == families::determinant) way.least_cases = 6;
  if (writes_parts(entry)) way.family = kParts;
  if (entry.family != families::pack || writes_parts(entry)) return way;
  for (const Entry& partner : catalogue.entries()) {
    if (partner.family != families::gemm || !demands_tiles(partner) || stores_less(partner))
      continue;
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
    const bool product =
        step.family == families::gemm && recipe.name.starts_with("conv2d.pointwise");
    const bool elsewhere =
        product || step.family == families::batched_gemm || step.family == families::pack ||
        step.family == families::winograd_weights || step.family == recipe.family;
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

}  // namespace

bool is_for_vectors(const Entry& entry) {
  return std::any_of(entry.require.begin(), entry.require.end(),
                     [](const Expression& requirement) { return requirement.print() == "N == 1"; });
}

std::string library_of(const Way& way, const Catalogue& catalogue) {
  for (const std::string& kernel : way.kernels) {
    const Entry* entry = catalogue.find_entry(kernel);
    if (entry != nullptr && !entry->call.library.empty()) return entry->call.library;
  }
  return {};
}

std::vector<Way> all_ways(const Catalogue& catalogue) {
  std::vector<Way> ways;
  for (const Entry& entry : catalogue.entries()) {
    // What packs one layout is no choice for every operand: catalogue_pack_test.cpp runs it.
    if (!packs_one_layout(entry)) ways.push_back(way_of(entry, catalogue));
    // Where a step moves elements it is a problem of its own, not a product's operand.
    const bool moves =
        entry.family == families::pack && !writes_parts(entry) && !packs_one_layout(entry);
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
    const std::string file = recipe.name.substr(recipe.family.name().size() + 1) + ".json";
    if (!std::filesystem::remove(folder / recipe.family.name() / file)) {
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

std::vector<OperatorCase> shipped_cases() { return all_cases(MORTON_SOURCE_DIR "/tests/cases"); }

const DirectWays& direct_ways() {
  static const TemporaryFolder folder;
  static const DirectWays shared = [] {
    Catalogue catalogue = catalogue_without_detours(folder.path());
    std::vector<Way> ways = all_ways(catalogue);
    return DirectWays{std::move(catalogue), std::move(ways), shipped_cases()};
  }();
  return shared;
}

/// Whether the case multiplies, takes a softmax and multiplies again: a case of kernels that do
/// all.
bool is_attention(const OperatorCase& test) {
  std::vector<std::string> wanted{"MatMul", "Softmax", "MatMul"};
  const auto take = [&](const std::string& op) {
    if (!wanted.empty() && op == wanted.front()) wanted.erase(wanted.begin());
  };
  take(test.op);
  for (const auto& step : test.then) take(step.op);
  return wanted.empty();
}

std::set<std::string> families_of(const OperatorCase& test) {
  // A convolution with a pool behind it is a case of kernels that do both.
  const bool is_pooled = test.op == "Conv" && std::ranges::any_of(test.then, [](const auto& step) {
                           return step.op.ends_with("Pool");
                         });
  if (is_pooled) return {"conv2d_pool"};
  if (is_attention(test)) return {"attention"};
  Graph graph = make_graph(test, kWaySeed, DataKind::integers);
  // Every kernel has cases of operators that are no others: these would build many for each way.
  if (expand_composites(graph, {}) > 0) return {kComposed};
  run_passes(graph, {});
  std::set<std::string> families;
  for (const Node& node : graph.nodes) {
    if (operator_of(node).host.alias) continue;
    const auto tensor_at = [&](TensorId id) -> const TaskTensor& {
      thread_local TaskTensor tensor;
      tensor.shape = graph.tensor(id).shape;
      return tensor;
    };
    for (const BoundProblem& bound : lower(graph, node)) {
      const bool is_pack = bound.problem.family == families::pack;
      const bool is_part = is_pack && !bound.operands.at("dst").view.grouping;
      families.insert(is_part ? kParts : bound.problem.family.name());
      for (const auto& narrow : narrowed(bound, tensor_at)) families.insert(narrow.problem.family);
    }
  }
  return families;
}

}  // namespace morton::test
