// SPDX-License-Identifier: Apache-2.0
//
// What the planner chooses, what it refuses, and what it says about both.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "plan/ir/print.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/candidates.hpp"
#include "plan/search/recipe.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

/// What planning complains about, with the class of the error in front.
std::string complaint(const Graph& graph, const DeviceInfo& device, const PlanOptions& options) {
  try {
    static_cast<void>(plan_of(graph, 3, device, options));
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const UnsupportedError& error) {
    return std::string("unsupported: ") + error.what();
  }
  return "nothing";
}

/// The error of class Expected that planning for the options throws.
template <typename Expected>
Expected refusal(const Graph& graph, const DeviceInfo& device, const PlanOptions& options) {
  return thrown<Expected>([&] { static_cast<void>(plan_of(graph, 3, device, options)); });
}

/// The setting at fault with its value.
NamedSetting first_setting(const Error& error) {
  const std::vector<NamedSetting> all = error.message().settings();
  return all.empty() ? NamedSetting{} : all.front();
}

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not say '" << part << "'";
}

/// Products without anything behind them: x(-1, 63) times four square matrices.
Graph chained_products() {
  NetworkBuilder network("chained_products", 1);
  TensorId x = network.input("x", {-1, 63});
  for (int i = 0; i < 4; ++i) x = network.node("MatMul", {x, network.parameter({63, 63}, 63)});
  network.output(x);
  return network.finish();
}

/// The kernel of a product of `rows` rows with a constant square matrix.
std::string kernel_of_product(const DeviceInfo& device, std::int64_t size, std::int64_t rows,
                              const PlanOptions& options = {}) {
  NetworkBuilder network("one_product", 1);
  const TensorId x = network.input("x", {-1, size});
  network.output(network.node("MatMul", {x, network.parameter({size, size}, size)}));
  std::string kernel;
  for (const Step& step : plan_of(network.finish(), rows, device, options).steps) {
    if (step.kernel.starts_with("gemm.")) kernel += step.kernel;
  }
  return kernel;
}

/// Of square matrices.
std::string kernel_of_product(const DeviceInfo& device, std::int64_t size) {
  return kernel_of_product(device, size, size);
}

TEST(PlanChoice, AVectorGetsMoreWorkItemsThanItHasRows) {
  // So few wait for memory most of the time: it is the number of loads under way that counts.
  for (const std::int64_t size : {1000, 4096}) {
    EXPECT_EQ(kernel_of_product(saved_device("nvidia_h200"), size, 1), "gemm.group_dots") << size;
    NetworkBuilder network("matrix_times_vector", 1);
    const TensorId x = network.input("x", {size, -1});
    network.output(network.node("MatMul", {network.input("a", {size, size}), x}));
    const Plan plan = plan_of(network.finish(), 1, saved_device("nvidia_h200"));
    EXPECT_EQ(count_of(plan, "gemm.group_dots"), 1) << size;
  }
}

TEST(PlanChoice, PtxIsForGpusThatHaveIt) {
  DeviceInfo device = saved_device("nvidia_h200");
  EXPECT_TRUE(kernel_of_product(device, 2048).starts_with("gemm.async_tile"));
  device.compute.cuda_capability = 75;
  EXPECT_EQ(kernel_of_product(device, 2048), "gemm.local_tile");
}

TEST(PlanChoice, MatrixUnitsGetLargeTilesWhereThereAreManyOfThem) {
  DeviceInfo device = saved_device("nvidia_h200");
  PlanOptions options;
  options.precision = DType::bf16;
  EXPECT_EQ(kernel_of_product(device, 4096, 4096, options), "gemm.wgmma_bf16");
  EXPECT_EQ(kernel_of_product(device, 1024, 1024, options), "gemm.wgmma_bf16_small");
  options.precision = DType::f16;
  EXPECT_EQ(kernel_of_product(device, 4096, 4096, options), "gemm.wgmma_f16");
  options.precision = DType::tf32;
  EXPECT_EQ(kernel_of_product(device, 4096, 4096, options), "gemm.wgmma_tf32");
  device.compute.cuda_capability = 80;
  EXPECT_EQ(kernel_of_product(device, 4096, 4096, options), "gemm.mma_tf32");
}

TEST(PlanChoice, OperandsOfMatrixUnitsArePackedWhereTheyLieInRowsOrColumns) {
  const auto packed = [](bool transposed) {
    NetworkBuilder network("two_inputs", 1);
    const TensorId a = network.input("a", {-1, 4096});
    const TensorId b = network.input("b", {4096, 4096});
    network.output(transposed ? network.node("Gemm", {a, b}, {{"transB", std::int64_t{1}}})
                              : network.node("MatMul", {a, b}));
    PlanOptions options;
    options.precision = DType::bf16;
    return plan_of(network.finish(), 4096, saved_device("nvidia_h200"), options);
  };
  EXPECT_EQ(count_of(packed(false), "pack.cells_8x8_lhs_128"), 1);
  EXPECT_EQ(count_of(packed(false), "pack.cells_8x8_rhs_256"), 1);
  EXPECT_EQ(count_of(packed(true), "pack.cells_8x8_rhs_256_transposed"), 1);
}

TEST(PlanChoice, TilesHaveNoMoreRowsThanTheProduct) {
  const DeviceInfo device = saved_device("nvidia_h200");
  NetworkBuilder network("low_product", 1);
  const TensorId low = network.input("low", {-1, 1600});
  network.output(network.node("MatMul", {low, network.input("long", {1600, 19600})}));
  const std::string why = print(plan_of(network.finish(), 32, device), PlanDetail::brief);
  EXPECT_NE(why.find("gemm.async_tile_low"), std::string::npos) << why;
  EXPECT_EQ(kernel_of_product(device, 2048).find("async_tile_low"), std::string::npos);
}

TEST(PlanChoice, LowPowerGpusGetPatchesInRegisters) {
  for (const std::int64_t size : {63, 384, 1000}) {
    SCOPED_TRACE(size);
    DeviceInfo mali = saved_device("mali_t628");
    // By Midgard's compiler. Of 63 x 63 there are too few patches of 4 x 4 for the units.
    EXPECT_EQ(kernel_of_product(mali, size), size < 100 ? "gemm.patch_dots" : "gemm.patch_panels");
    // By the first guesses, of a GPU that no compiler tells of.
    mali.name = "a GPU";
    EXPECT_EQ(kernel_of_product(mali, size), "gemm.patch_dots");
    // Where no unit computes dot(), it is a multiplication more than the sums need.
    mali.compute.native_vector_f32 = 1;
    EXPECT_EQ(kernel_of_product(mali, size), "gemm.patch_panels");
    EXPECT_EQ(kernel_of_product(saved_device("nvidia_h200"), size).find("patch"),
              std::string::npos);
    EXPECT_EQ(kernel_of_product(saved_device("pocl_cpu"), size).find("patch"), std::string::npos);
  }
  EXPECT_EQ(kernel_of_product(saved_device("adreno_530"), 384), "gemm.local_tile");
  DeviceInfo small_images = saved_device("adreno_530");
  small_images.name = "a GPU";
  EXPECT_EQ(kernel_of_product(small_images, 384), "gemm.patch_image");
  small_images.image.max_height = 383;
  EXPECT_EQ(kernel_of_product(small_images, 384), "gemm.patch_panels");
}

TEST(PlanUse, UnknownFamilyKernelOrPairIsAUsageError) {
  const DeviceInfo device = saved_device("pocl_cpu");
  const Graph mlp = make_mlp(1);
  PlanOptions options;
  options.use = {{"gem", "gemm.naive"}};
  EXPECT_EQ(refusal<UsageError>(mlp, device, options).setting(), "use");
  const auto asked = [&] { return first_setting(refusal<UsageError>(mlp, device, options)); };
  options.use = {{"gemm", "gemm.nave"}};
  EXPECT_EQ(asked(), (NamedSetting{"use", "gemm=gemm.nave"}));
  options.use = {{"softmax", "gemm.naive"}};
  EXPECT_EQ(asked(), (NamedSetting{"use", "softmax=gemm.naive"}));
  // Also where the model has no such problem: a slip of the pen is no wish.
  options.use = {{"conv2d", "gemm.naive"}};
  EXPECT_TRUE(says(complaint(mlp, device, options), "it computes gemm"));
}

TEST(PlanUse, AKernelThatCannotIsAUsageErrorWithItsReason) {
  const DeviceInfo device = saved_device("pocl_cpu");
  PlanOptions options;
  options.use = {{"conv2d", "conv2d.im2col_gemm"}};
  const auto error = refusal<UsageError>(make_small_cnn(2), device, options);
  EXPECT_EQ(first_setting(error), (NamedSetting{"use", "conv2d=conv2d.im2col_gemm"}));
  const auto own =
      std::ranges::find(error.rejected(), "conv2d.im2col_gemm", &RejectedKernel::kernel);
  ASSERT_NE(own, error.rejected().end()) << error.what();
  EXPECT_TRUE(says(own->why.print(), "it requires"));
}

TEST(PlanUse, IsObeyedByEveryStepOfTheFamily) {
  for (const auto& name : saved_devices()) {
    for (const char* kernel : {"gemm.naive", "gemm.patch_panels", "gemm.morton_4_2"}) {
      SCOPED_TRACE(name + " " + kernel);
      PlanOptions options;
      options.use = {{"gemm", kernel}};
      const Plan plan = plan_of(make_mlp(1), 17, saved_device(name), options);
      EXPECT_EQ(count_of(plan, kernel), 3);
      for (const Step& step : plan.steps) {
        if (step.kernel.starts_with("gemm.")) {
          EXPECT_EQ(step.kernel, kernel);
        }
      }
    }
  }
}

TEST(PlanRejection, SaysWhichLimitOfTheDevice) {
  DeviceInfo device = saved_device("mali_t628");
  device.compute.max_work_item_sizes = {256, 4, 256};
  const Plan plan = plan_of(make_mlp(1), 3, device);
  ASSERT_FALSE(plan.considered.empty());
  EXPECT_TRUE(says(plan.considered[0].print(),
                   "not gemm.naive: local size 8 exceeds the device's 4 in dimension 1"));
  EXPECT_TRUE(says(plan.considered[0].print(), "not gemm.morton_4_2: local size 16"));
  EXPECT_EQ(count_of(plan, "gemm.naive") + count_of(plan, "gemm.morton_4_2"), 0);
}

TEST(PlanRejection, NoKernelAtAllNamesTheNodeAndEveryReason) {
  DeviceInfo device = saved_device("mali_t628");
  device.compute.max_work_group_size = 1;
  const auto error = refusal<UnsupportedError>(make_small_cnn(2), device, {});
  EXPECT_TRUE(says(error.what(), "Conv0"));
  for (const char* name : {"conv2d.naive", "conv2d.im2col_gemm"}) {
    const auto found = std::ranges::find(error.rejected(), name, &RejectedKernel::kernel);
    ASSERT_NE(found, error.rejected().end()) << name;
    EXPECT_FALSE(found->why.empty()) << name;
    EXPECT_TRUE(says(error.what(), std::string(name) + ": " + found->why.print()));
  }
}

TEST(PlanWhy, MentionsEveryEntryAndRecipeOfEachFamily) {
  const Catalogue catalogue = Catalogue::standard();
  for (const char* network : {"lenet5", "small_cnn"}) {
    for (const auto& name : saved_devices()) {
      SCOPED_TRACE(std::string(network) + " on " + name);
      const Plan plan = plan_of(network_named(network), 3, saved_device(name));
      const std::string text = print(plan, PlanDetail::why);
      for (const Message& considered : plan.considered) {
        const std::string line = considered.print();
        EXPECT_TRUE(says(text, line));
        const auto colon = line.find(": ");
        const std::string family = line.substr(colon + 2, line.find(' ', colon + 2) - colon - 2);
        for (const Entry& entry : catalogue.entries()) {
          if (entry.family == family) {
            EXPECT_TRUE(says(line, entry.name));
          }
        }
        for (const Recipe& recipe : catalogue.recipes()) {
          if (recipe.family == family) {
            EXPECT_TRUE(says(line, recipe.name));
          }
        }
      }
      for (const Step& step : plan.steps) EXPECT_TRUE(says(text, "why: " + step.reason.print()));
    }
  }
}

TEST(PlanWorkspace, TheLimitDecidesWhetherARecipeMayBe) {
  // 3x3 filters over 3 channels of 9x7: 27 rows of 63 columns for each of 3 images.
  NetworkBuilder network("one_convolution", 1);
  const TensorId x = network.input("x", {-1, 3, 9, 7});
  network.output(network.conv(x, 3, 8, NetworkBuilder::Filter{.size = 3, .pad = 1}));
  const Graph graph = network.finish();
  const DeviceInfo device = saved_device("pocl_cpu");
  const std::int64_t columns_bytes =
      round_up(std::int64_t{27 * 63 * 3 * 4}, device.memory.base_alignment_bytes);
  PlanOptions options;
  options.use = {{"conv2d", "conv2d.im2col_gemm"}};
  options.workspace_limit_bytes = columns_bytes;
  EXPECT_EQ(complaint(graph, device, options), "nothing");
  options.workspace_limit_bytes = columns_bytes - 1;
  const std::string text = complaint(graph, device, options);
  EXPECT_TRUE(says(text, "its temporaries of " + std::to_string(columns_bytes) +
                             " bytes exceed the workspace limit of " +
                             std::to_string(columns_bytes - 1)));
  // Without the wish another way is taken, and --why says so.
  options.use.clear();
  const Plan plan = plan_of(graph, 3, device, options);
  EXPECT_EQ(count_of(plan, "conv2d.gathered"), 1);
  EXPECT_TRUE(says(plan.considered[0].print(), "exceed the workspace limit"));
}

TEST(PlanRecipe, Im2colBecomesAPackAndAProduct) {
  NetworkBuilder network("one_convolution", 1);
  const TensorId x = network.input("x", {-1, 3, 9, 7});
  network.output(network.conv(x, 3, 8, NetworkBuilder::Filter{.size = 3, .stride = 2, .pad = 1}));
  const TaskList tasks = make_tasks(prepared(network.finish(), 5));
  ASSERT_EQ(tasks.tasks.size(), 1U);
  const Catalogue catalogue = Catalogue::standard();
  const Recipe* recipe = catalogue.find_recipe("conv2d.im2col_gemm");
  ASSERT_NE(recipe, nullptr);
  const ExpandedRecipe expanded = required(expand(*recipe, tasks.tasks.front(), 2, tasks, {}));
  ASSERT_EQ(expanded.temporaries.size(), 1U);
  EXPECT_EQ(expanded.temporaries[0].shape, (Shape{27, 5 * 5 * 4}));
  ASSERT_EQ(expanded.steps.size(), 2U);
  const Problem& pack = expanded.steps[0].task.bound.problem;
  EXPECT_EQ(pack.family, "pack");
  EXPECT_TRUE(pack.epilogue.is_identity());
  EXPECT_EQ(tensor_of(expanded.steps[0].task.bound, "dst"), kFirstTemporary.moved(2));
  const BoundProblem& product = expanded.steps[1].task.bound;
  EXPECT_EQ(product.problem.family, "gemm");
  EXPECT_EQ(product.problem.extents.at("M"), 8);
  EXPECT_EQ(product.problem.extents.at("N"), 100);
  EXPECT_EQ(product.problem.extents.at("K"), 27);
  EXPECT_EQ(tensor_of(product, "rhs"), kFirstTemporary.moved(2));
  // The bias goes to the step that writes the result.
  EXPECT_FALSE(product.problem.epilogue.is_identity());
  EXPECT_EQ(product.sides.size(), 1U);
}

TEST(PlanFormats, ChainedProductsInR17sFormatNeedNoPackBetween) {
  PlanOptions options;
  options.use = {{"gemm", "gemm.morton_4_2"}};
  for (const auto& name : saved_devices()) {
    SCOPED_TRACE(name);
    // Of 32 rows, which are padded alike by the product and by its transposed.
    const Plan plan = plan_of(chained_products(), 32, saved_device(name), options);
    EXPECT_EQ(count_of(plan, "gemm.morton_4_2"), 4);
    // The row-major input and output are repacked, nothing else.
    EXPECT_EQ(plan.steps.size(), 6U) << print(plan, PlanDetail::why);
    EXPECT_TRUE(plan.steps.front().kernel.starts_with("pack."));
    EXPECT_TRUE(plan.steps.back().kernel.starts_with("pack."));
  }
}

TEST(PlanFormats, AnEpilogueOfItsOwnStepKeepsTheFormat) {
  // Bias and activation are a step of their own behind gemm.morton_4_2. It writes what the next
  // product reads, so that the only pack is that of the input.
  PlanOptions options;
  options.use = {{"gemm", "gemm.morton_4_2"}};
  const Plan plan = plan_of(make_mlp(1), 17, saved_device("mali_t628"), options);
  EXPECT_EQ(count_of(plan, "gemm.morton_4_2"), 3);
  EXPECT_EQ(count_of(plan, "elementwise.chain"), 3);
  EXPECT_EQ(count_of(plan, "pack.short_runs"), 1) << print(plan, PlanDetail::why);
}

/// Holds for every plan: what a kernel demands of an operand is what lies there, and what it leaves
/// in the padding is no less than the plan says.
void expect_demands_met(const Plan& plan, const Catalogue& catalogue) {
  for (const Step& step : plan.steps) {
    const Entry* entry = catalogue.find_entry(step.kernel);
    ASSERT_NE(entry, nullptr) << step.kernel;
    for (const StepArgument& argument : step.arguments) {
      const auto format = entry->operands.find(argument.name);
      if (argument.value() == nullptr || format == entry->operands.end()) continue;
      const Value& value = plan.values[argument.value()->id];
      const bool padded =
          elements_of(value.arrangement) != element_count(value.arrangement.tensor_shape);
      SCOPED_TRACE(step.name + " " + step.kernel + " " + argument.name + " " +
                   print(value.arrangement));
      if (padded && argument.name == "dst") {
        EXPECT_GE(format->second.padding, value.arrangement.padding);
      }
      if (padded && argument.name != "dst") {
        EXPECT_GE(value.arrangement.padding, format->second.padding);
      }
    }
  }
}

TEST(PlanFormats, PaddingContentsAreNoWeakerThanKernelsDemandAndNoStrongerThanTheyLeave) {
  const Catalogue catalogue = Catalogue::standard();
  for (const auto& name : saved_devices()) {
    for (const char* kernel : {"", "gemm.patch_panels", "gemm.morton_4_2", "gemm.naive"}) {
      SCOPED_TRACE(name + " " + kernel);
      PlanOptions options;
      if (*kernel != '\0') options.use = {{"gemm", kernel}};
      for (const char* network : {"lenet5", "mlp", "small_cnn", "residual"}) {
        for (const std::int64_t batch : {1, 3, 100}) {
          SCOPED_TRACE(std::string(network) + ", batch " + std::to_string(batch));
          expect_demands_met(plan_of(network_named(network), batch, saved_device(name), options),
                             catalogue);
        }
      }
    }
  }
}

TEST(PlanCost, UnknownPeaksAreGuessedNotDividedBy) {
  DeviceInfo device = saved_device("mali_t628");
  device.peaks = {};
  const Plan plan = plan_of(network_named("lenet5"), 3, device);
  for (const Step& step : plan.steps) {
    EXPECT_GT(step.cost.estimated_us, 0.0);
    EXPECT_LT(step.cost.estimated_us, 1e9);
  }
}

}  // namespace
}  // namespace morton::test
