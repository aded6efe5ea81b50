// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/candidates.hpp"
#include "plan/search/recipe.hpp"
#include "plan/search/settle.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// A product whose lhs is copied first, by a kernel that writes the elements and nothing around.
constexpr std::string_view kCopied = R"json({
  "schema": 1, "name": "gemm.copied", "problem": "gemm", "temporaries": {"copy": ["M", "K"]},
  "steps": [
    {"problem": "average_pool2d",
     "extents": {"N": 1, "C": 1, "H": "M", "W": "K", "OH": "M", "OW": "K"},
     "structure": {"KH": 1, "KW": 1, "SH": 1, "SW": 1, "DH": 1, "DW": 1, "PT": 0, "PL": 0, "PB": 0,
                   "PR": 0, "COUNT_PAD": 0},
     "operands": {"src": "lhs(h, w)", "dst": "copy(oh, ow)"}},
    {"problem": "gemm", "extents": {"M": "M", "N": "N", "K": "K"},
     "operands": {"lhs": "copy(m, k)", "rhs": "rhs(k, n)", "dst": "dst(m, n)"}}
  ]})json";

/// The product of the first half of lhs' columns and of rhs' rows.
constexpr std::string_view kHalf = R"json({
  "schema": 1, "name": "gemm.half", "problem": "gemm",
  "steps": [
    {"problem": "gemm", "extents": {"M": "M", "N": "N", "K": "K/2"},
     "operands": {"lhs": "lhs(m, k)", "rhs": "rhs(k, n)", "dst": "dst(m, n)"}}
  ]})json";

Catalogue catalogue_with(std::string_view recipe) {
  Catalogue catalogue = Catalogue::standard();
  catalogue.add_text(recipe, "recipe.json", [](const std::string& name) -> std::string {
    throw ModelError("a recipe has no source, asked for " + name);
  });
  return catalogue;
}

/// dst[M,N] = lhs[M,K] * rhs[K,N], tensors 0, 1 and 2.
Task product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Task task;
  task.name = "product";
  task.bound.problem.family = families::gemm;
  task.bound.problem.extents = {{"M", m}, {"N", n}, {"K", k}};
  for (const char* name : {"lhs", "rhs", "dst", "acc"}) {
    task.bound.problem.types[name] = DType::f32;
  }
  task.bound.operands["lhs"] = {TensorId(0), View::identity({"M", "K"})};
  task.bound.operands["rhs"] = {TensorId(1), View::identity({"K", "N"})};
  task.bound.operands["dst"] = {TensorId(2), View::identity({"M", "N"})};
  return task;
}

DeviceInfo any_device() {
  DeviceInfo device;
  device.compute.max_work_group_size = 256;
  device.compute.max_work_item_sizes = {256, 256, 256};
  device.memory.local_bytes = 32 << 10;
  device.memory.max_allocation_bytes = device.memory.global_bytes = 1 << 30;
  device.peaks = {1.0, 1.0, 1.0, 1.0, {}, "declared"};
  return device;
}

/// The reader of a temporary says where its elements lie, not what the writer leaves around them:
/// where the reader needs more than that, the copy must be packed.
TEST(Recipe, ATemporaryHasThePaddingThatItsWriterLeaves) {
  const Catalogue catalogue = catalogue_with(kCopied);
  const DeviceInfo device = any_device();
  TaskList tasks;
  for (const Shape& shape : {Shape{3, 5}, Shape{5, 7}, Shape{3, 7}}) {
    tasks.tensors.emplace_back().shape = shape;
  }
  const KernelPolicy policy(catalogue, {});
  const PlanContext context{policy, device, tasks};
  int padded = 0;
  for (const auto& candidate : list_candidates(product(3, 7, 5), context).candidates) {
    for (std::size_t t = 0; t < candidate.temporaries.size(); ++t) {
      const Arrangement copy = arrangement_of_temporary(candidate, t);
      const bool is_copy = candidate.temporaries[t].name.ends_with(":copy");
      if (!is_copy || copy.padded == operand_extents(copy)) continue;
      ++padded;
      EXPECT_EQ(copy.padding, PaddingContents::undefined) << candidate.name;
    }
  }
  EXPECT_GT(padded, 0);
}

/// Half of a tensor laid out as a kernel asks for it is not the tensor laid out so: the kernel
/// would take the other half for padding. It is packed.
TEST(Recipe, APartOfATensorIsPacked) {
  const Catalogue catalogue = catalogue_with(kHalf);
  const DeviceInfo device = any_device();
  PlanOptions options;
  options.use["gemm"] = "gemm.half";
  TaskList tasks;
  for (const Shape& shape : {Shape{3, 4}, Shape{4, 7}, Shape{3, 7}}) {
    tasks.tensors.emplace_back().shape = shape;
  }
  const KernelPolicy policy(catalogue, options);
  const PlanContext context{policy, device, tasks};
  int packed = 0;
  for (const auto& candidate : list_candidates(product(3, 7, 4), context).candidates) {
    for (const auto& kernel : candidate.kernels) {
      for (const auto& [role, demand] : kernel.demands) {
        if (role == "dst") continue;
        EXPECT_NE(demand.kind, Demand::Kind::direct) << candidate.name << " " << role;
        packed += demand.kind == Demand::Kind::packed ? 1 : 0;
      }
    }
  }
  EXPECT_GT(packed, 0);
}

/// A product's step inside a recipe renames the names around it; a recipe within that recipe finds
/// names that were renamed already, and both keep their values.
TEST(Recipe, NamesOfRecipesAroundEachOtherStayApart) {
  const Catalogue catalogue = Catalogue::standard();
  const Recipe* swapped = catalogue.find_recipe("gemm.swapped");
  ASSERT_NE(swapped, nullptr);
  Task task = product(3, 7, 5);
  task.bound.problem.extents["outer_N"] = 11;
  const Expression outer = Expression::variable("outer_N");
  const Expression own = Expression::variable("N");
  task.bound.operands["dst"].view.extents = {outer, own};
  const ExpandedRecipe expanded = required(expand(*swapped, task, 0, TaskList{}, {}));
  ASSERT_EQ(expanded.steps.size(), 1u);
  const BoundProblem& step = expanded.steps[0].task.bound;
  const auto& extents = step.operands.at("dst").view.extents;
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents[0].evaluate(step.problem.extents), 11);
  EXPECT_EQ(extents[1].evaluate(step.problem.extents), 7);
}

}  // namespace
}  // namespace morton::test
