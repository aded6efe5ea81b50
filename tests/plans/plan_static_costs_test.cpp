// SPDX-License-Identifier: Apache-2.0
//
// What the planner makes of costs that a GPU's compiler told.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.hpp"
#include "plan/cost/cost.hpp"
#include "plan/make_plan.hpp"
#include "plan/measured/static_costs.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/measured/tuned_store.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPatchPanels = "gemm.patch_panels";

const Catalogue& all_kernels() {
  static const Catalogue kAllKernels = Catalogue::standard();
  return kAllKernels;
}

DeviceInfo described_board(const std::string& name) {
  const std::string path = MORTON_SOURCE_DIR "/data/boards/" + name + ".json";
  return device_info_from_text(read_file(path, 1 << 20));
}

Environment patches(std::int64_t m, std::int64_t n) {
  return {{"PATCH_M", m},  {"PATCH_N", n}, {"BAND", 1},
          {"UNROLL_K", 4}, {"LOCAL_M", 4}, {"LOCAL_N", 16}};
}

/// Of a GPU with this name: so many multiply-adds' worth for each that is done, and once.
StaticCost cost_of(const std::string& gpu, Environment tunables, double each, double once) {
  StaticCost cost;
  cost.device = {"", gpu, "ARM", "", "gpu"};
  cost.kernel = kPatchPanels;
  cost.hash = all_kernels().find_entry(kPatchPanels)->program.digest.kernel;
  cost.tunables = std::move(tunables);
  cost.once = once;
  cost.turn = each * 64.0;
  cost.operations = 2.0 * 64.0;
  return cost;
}

Step step_on_g610(const TunedData& data, std::int64_t rows, PlanOptions options = {}) {
  NetworkBuilder network("one_product", 1);
  const TensorId x = network.input("x", {-1, 512});
  network.output(network.node("MatMul", {x, network.parameter({512, 512}, 512)}));
  options.use = {{"gemm", kPatchPanels}};
  options.tuned = std::make_shared<TunedData>(data);
  const Plan plan =
      make_plan(prepared(network.finish(), rows), all_kernels(), described_board("g610"), options);
  for (const Step& step : plan.steps) {
    if (step.kernel == kPatchPanels) return step;
  }
  throw std::runtime_error("no step runs the kernel");
}

bool reason_has(const Step& step, const std::string& part) {
  return step.reason.print().find(part) != std::string::npos;
}

TEST(PlanStaticCosts, NamesOfGpus) {
  EXPECT_EQ(gpu_model("Mali-G610 MP4 (RK3588)"), "Mali-G610");
  EXPECT_EQ(gpu_model("Mali-T860 r2p0"), "Mali-T860");
  EXPECT_EQ(gpu_model("QUALCOMM Adreno(TM) OpenCL 3.0 Adreno(TM) 740"), "Adreno 740");
  EXPECT_EQ(gpu_model("FD630"), "Adreno 630");
  EXPECT_EQ(gpu_model("NVIDIA H100 80GB HBM3"), "");
  EXPECT_EQ(gpu_model("Mali-"), "");
  EXPECT_EQ(gpu_model("Adreno 330"), "") << "another instruction set";
  EXPECT_EQ(gpu_model("FD"), "");
}

TEST(PlanStaticCosts, TheBoardOfTheSameInstructionSetThatIsNearest) {
  EXPECT_EQ(board_like("Mali-G610"), "g610");
  EXPECT_EQ(board_like("Mali-G710"), "g610");
  EXPECT_EQ(board_like("Mali-G78"), "g57");
  EXPECT_EQ(board_like("Mali-G76"), "g52");
  EXPECT_EQ(board_like("Mali-T628"), "t860");
  EXPECT_EQ(board_like("Adreno 640"), "a630");
  EXPECT_EQ(board_like(""), "");
}

TEST(PlanStaticCosts, EachProblemTakesTheValuesOfItsLeastCost) {
  TunedData data;
  // Four patches of one are as much work as one of the other, which begins slowly.
  data.add(cost_of("Mali-G610 of a test", patches(4, 4), 2e-3, 1e-2));
  data.add(cost_of("Mali-G610 of a test", patches(8, 8), 1e-3, 1e9));
  EXPECT_EQ(step_on_g610(data, 512).tunables, patches(4, 4));
  data.add(cost_of("Mali-G610 of a test", patches(8, 8), 1e-3, 1e-2));
  const Step step = step_on_g610(data, 512);
  EXPECT_EQ(step.tunables, patches(8, 8));
  EXPECT_TRUE(reason_has(step, "from the compiler")) << step.reason.print();
}

TEST(PlanStaticCosts, OfAnotherGpuCountsNothing) {
  TunedData data;
  data.add(cost_of("Adreno 740", patches(8, 8), 1e-6, 0.0));
  EXPECT_NE(step_on_g610(data, 512).tunables, patches(8, 8));
}

TEST(PlanStaticCosts, OfAnotherVersionOfTheKernelCountsNothing) {
  TunedData data;
  data.add(cost_of("Mali-G610", patches(8, 8), 1e-6, 0.0));
  StaticCost old = cost_of("Mali-G610", patches(4, 8), 1e-9, 0.0);
  old.hash = "0";
  data.add(old);
  EXPECT_EQ(step_on_g610(data, 512).tunables, patches(8, 8));
}

TEST(PlanStaticCosts, ValuesThatAreSetStay) {
  TunedData data;
  data.add(cost_of("Mali-G610", patches(8, 8), 1e-6, 0.0));
  PlanOptions options;
  options.tunables[kPatchPanels] = patches(4, 8);
  const Step step = step_on_g610(data, 512, options);
  EXPECT_EQ(step.tunables, patches(4, 8));
  EXPECT_TRUE(reason_has(step, "as set"));
}

TEST(PlanStaticCosts, TheSizeOfTheWorkGroupIsTheEntrysOwn) {
  TunedData data;
  Environment values = patches(8, 8);
  values["LOCAL_M"] = 8;
  values["LOCAL_N"] = 8;
  data.add(cost_of("Mali-G610", values, 1e-6, 0.0));
  EXPECT_EQ(step_on_g610(data, 512).tunables, patches(8, 8));
}

TEST(PlanStaticCosts, ValuesThatTheEntryDoesNotListCountNothing) {
  TunedData data;
  data.add(cost_of("Mali-G610", patches(6, 8), 1e-9, 0.0));
  Environment incomplete = patches(8, 4);
  incomplete.erase("PATCH_N");
  data.add(cost_of("Mali-G610", incomplete, 1e-9, 0.0));
  data.add(cost_of("Mali-G610", patches(8, 8), 1e-6, 0.0));
  EXPECT_EQ(step_on_g610(data, 512).tunables, patches(8, 8));
}

/// Of the product of step_on_g610 on the described G610.
TunedRecord measured_record(Environment values) {
  TunedRecord record;
  record.device = TunedDevice::of(described_board("g610"));
  record.kernel = kPatchPanels;
  record.hash = all_kernels().find_entry(kPatchPanels)->program.digest.kernel;
  record.problem = {families::gemm,
                    {{"M", 512}, {"N", 512}, {"K", 512}},
                    {},
                    {{"lhs", "f32"}, {"rhs", "f32"}, {"dst", "f32"}, {"acc", "f32"}},
                    {}};
  record.tunables = std::move(values);
  record.ms = 1.0;
  record.gflops = 100.0;
  record.peak_gflops = 200.0;
  record.efficiency = 0.5;
  return record;
}

TEST(PlanStaticCosts, WhatWasMeasuredComesFirst) {
  TunedData data;
  data.add(cost_of("Mali-G610", patches(8, 8), 1e-6, 0.0));
  data.add(measured_record(patches(4, 8)));
  const Step step = step_on_g610(data, 512);
  EXPECT_EQ(step.tunables, patches(4, 8));
  EXPECT_TRUE(reason_has(step, "tuned on this device")) << step.reason.print();
  EXPECT_FALSE(reason_has(step, "from the compiler")) << step.reason.print();
}

TEST(PlanStaticCosts, WhatWasMeasuredOfAnotherVersionIsNotedAndTheCompilerChooses) {
  TunedData data;
  data.add(cost_of("Mali-G610", patches(8, 8), 1e-6, 0.0));
  TunedRecord old = measured_record(patches(4, 8));
  old.hash = "0";
  data.add(old);
  const Step step = step_on_g610(data, 512);
  EXPECT_EQ(step.tunables, patches(8, 8));
  EXPECT_TRUE(reason_has(step, "another version")) << step.reason.print();
  EXPECT_TRUE(reason_has(step, "from the compiler")) << step.reason.print();
}

TEST(PlanStaticCosts, AWorkGroupTakesTheTimeOfWholeSets) {
  const DeviceInfo g610 = described_board("g610");
  ASSERT_EQ(g610.core.lanes, 16);
  LaunchSize narrow, whole;
  narrow.global = {128, 1, 1};
  narrow.local = {8, 1, 1};
  whole.global = {256, 1, 1};
  whole.local = {16, 1, 1};
  EXPECT_EQ(timed_work_items(narrow, g610), 256.0);
  EXPECT_EQ(timed_work_items(whole, g610), 256.0);
}

TEST(PlanStaticCosts, RowsWorkGroupsAreAsWideAsTheSets) {
  for (const auto& [board, lanes] : {std::pair{"g52", 8}, {"g610", 16}, {"a740", 64}}) {
    const Environment names = environment_of(described_board(board));
    for (const char* kernel : {"softmax.rows", "normalize.naive", "top_k.passes"}) {
      const Environment standard = standard_tunables(*all_kernels().find_entry(kernel), names);
      EXPECT_EQ(standard.at("LOCAL"), lanes) << board << " " << kernel;
    }
  }
}

std::string product_on_g610(PlanOptions options) {
  NetworkBuilder network("one_product", 1);
  const TensorId x = network.input("x", {-1, 512});
  network.output(network.node("MatMul", {x, network.parameter({512, 512}, 512)}));
  const Plan plan =
      make_plan(prepared(network.finish(), 512), all_kernels(), described_board("g610"), options);
  return plan.steps.back().kernel;
}

TEST(PlanStaticCosts, ProductsAddUpInF16WhereThatIsAskedFor) {
  PlanOptions options;
  options.precision = DType::f16;
  EXPECT_NE(product_on_g610(options), "gemm.patch_panels_f16_sums");
  options.sums = DType::f16;
  EXPECT_EQ(product_on_g610(options), "gemm.patch_panels_f16_sums");
  options.sums = DType::f32;
  options.use = {{"gemm", "gemm.patch_panels_f16_sums"}};
  try {
    product_on_g610(options);
    FAIL() << "was planned";
  } catch (const Error& why) {
    EXPECT_NE(std::string(why.what()).find("adds up products in f16"), std::string::npos)
        << why.what();
  }
}

TEST(PlanStaticCosts, ASearchReplacesWhatTheFileHadOfTheKernel) {
  const TemporaryFolder folder;
  const fs::path file = folder / "costs.json";
  const StaticCost first = cost_of("Mali-G610", patches(8, 8), 1.5, 10.0);
  const auto store = [&](const StaticCost& cost) {
    TunedData found;
    found.add(cost);
    store_tuning(file, first.device, found, all_kernels());
  };
  store(first);
  store(cost_of("Mali-G610", patches(4, 4), 1.5, 10.0));
  TunedData data;
  (void)read_tuning_file(file, data);
  ASSERT_EQ(data.static_costs().size(), 1U);
  EXPECT_EQ(data.static_costs().front().tunables, patches(4, 4));
}

TEST(PlanStaticCosts, AFileKeepsThem) {
  const StaticCost cost = cost_of("Mali-G610", patches(8, 8), 1.5, 10.0);
  TunedData data, read;
  data.add(cost);
  const std::string text = print_tuning(cost.device, data);
  (void)read_tuning(parse_json(text, "text"), "text", read);
  ASSERT_EQ(read.static_costs().size(), 1U);
  const StaticCost& again = read.static_costs().front();
  EXPECT_EQ(again.kernel, cost.kernel);
  EXPECT_EQ(again.tunables, cost.tunables);
  EXPECT_EQ(again.of_item(1000.0), cost.of_item(1000.0));
  EXPECT_EQ(cost.of_item(128.0), 10.0 + 1.5 * 64.0);
}

TEST(PlanStaticCosts, EveryBoardHasShippedOnes) {
  for (const auto& file : fs::directory_iterator(fs::path(MORTON_SOURCE_DIR) / "data" / "boards")) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().stem().string();
    SCOPED_TRACE(name);
    const std::vector<StaticCost> costs = static_costs_for(described_board(name), nullptr);
    EXPECT_FALSE(costs.empty());
    for (const StaticCost& cost : costs) {
      const Entry* entry = all_kernels().find_entry(cost.kernel);
      ASSERT_NE(entry, nullptr) << cost.kernel;
      EXPECT_EQ(cost.hash, entry->program.digest.kernel)
          << cost.kernel << " has changed since: tools/boards_report.py ROOT --write --kernel "
          << cost.kernel << " renews it, or remove what is known of it";
      EXPECT_EQ(board_like(gpu_model(cost.device.name)), name);
    }
  }
  EXPECT_TRUE(static_costs_for(saved_device("pocl_cpu"), nullptr).empty());
}

}  // namespace
}  // namespace morton::test
