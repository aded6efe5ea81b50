// SPDX-License-Identifier: Apache-2.0
//
// What the planner makes of measured values: which record it takes, and what it says of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "plan/ir/print.hpp"
#include "plan/make_plan.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr const char* kKernel = "gemm.tile_unpacked";

const Catalogue& catalogue() {
  static const Catalogue kCatalogue = Catalogue::standard();
  return kCatalogue;
}

TunedProblem tuned_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {families::gemm,
          {{"M", m}, {"N", n}, {"K", k}},
          {},
          {{"lhs", "f32"}, {"rhs", "f32"}, {"dst", "f32"}, {"acc", "f32"}},
          {}};
}

TunedRecord record_for(const DeviceInfo& device, const TunedProblem& problem, Environment values) {
  TunedRecord record;
  record.device = TunedDevice::of(device);
  record.kernel = kKernel;
  record.hash = catalogue().find_entry(kKernel)->program.digest.kernel;
  record.problem = problem;
  record.tunables = std::move(values);
  record.ms = 1.0;
  record.gflops = 100.0;
  record.peak_gflops = 200.0;
  record.efficiency = 0.5;
  return record;
}

/// x(-1, 63) times a matrix of 63 x 17.
Graph one_product() {
  NetworkBuilder network("one_product", 1);
  const TensorId x = network.input("x", {-1, 63});
  network.output(network.node("MatMul", {x, network.parameter({63, 17}, 63)}));
  return network.finish();
}

/// The only step's plan for 3 rows: M=3 N=17 K=63.
Step step_with(const TunedData& data, const DeviceInfo& device, PlanOptions options = {}) {
  options.use = {{"gemm", kKernel}};
  options.tuned = std::make_shared<TunedData>(data);
  const Plan plan = make_plan(prepared(one_product(), 3), catalogue(), device, options);
  for (const Step& step : plan.steps) {
    if (step.kernel == kKernel) return step;
  }
  throw std::runtime_error("no step runs the kernel");
}

testing::AssertionResult reason_says(const Step& step, const std::string& part) {
  const std::string reason = step.reason.print();
  if (reason.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << reason << "' does not say '" << part << "'";
}

TEST(PlanTuned, DistanceIsOfLogarithms) {
  EXPECT_EQ(distance(tuned_product(3, 17, 63), tuned_product(3, 17, 63)), 0.0);
  EXPECT_DOUBLE_EQ(distance(tuned_product(3, 17, 63), tuned_product(6, 17, 63)), 1.0);
  EXPECT_DOUBLE_EQ(distance(tuned_product(1, 4, 1), tuned_product(8, 4, 16)), 5.0);
  TunedProblem transposed = tuned_product(3, 17, 63);
  transposed.orders["rhs"] = "NK";
  EXPECT_DOUBLE_EQ(distance(tuned_product(3, 17, 63), transposed), 1.0);
  EXPECT_DOUBLE_EQ(distance(transposed, tuned_product(3, 17, 63)), 1.0);
  TunedProblem halves = tuned_product(3, 17, 63);
  halves.types["lhs"] = "f16";
  EXPECT_TRUE(std::isinf(distance(tuned_product(3, 17, 63), halves)));
}

TEST(PlanTuned, TheNearestRecordOfTheClosestDeviceIsTaken) {
  const DeviceInfo own = saved_device("pocl_cpu");
  DeviceInfo newer = own;
  newer.driver.version = "9.9";
  DeviceInfo cousin = newer;
  cousin.name = "another of the same vendor";

  TunedData data;
  EXPECT_TRUE(
      reason_says(step_with(data, own), "LANES=16 TILE_M=6 TILE_N=64, the entry's standard"));
  data.add(
      record_for(cousin, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}}));
  EXPECT_TRUE(reason_says(step_with(data, own),
                          "LANES=16 TILE_M=1 TILE_N=16, tuned on a device of the same vendor "
                          "(another of the same vendor) for this problem"));
  data.add(
      record_for(newer, tuned_product(6, 17, 63), {{"LANES", 16}, {"TILE_M", 2}, {"TILE_N", 16}}));
  EXPECT_TRUE(reason_says(step_with(data, own),
                          "LANES=16 TILE_M=2 TILE_N=16, tuned on the same architecture"));
  data.add(
      record_for(own, tuned_product(6, 17, 126), {{"LANES", 16}, {"TILE_M", 4}, {"TILE_N", 16}}));
  EXPECT_TRUE(reason_says(step_with(data, own),
                          "LANES=16 TILE_M=4 TILE_N=16, tuned on this device for M=6 N=17 "
                          "K=126, 1.41 away"));
  data.add(
      record_for(own, tuned_product(6, 17, 63), {{"LANES", 16}, {"TILE_M", 4}, {"TILE_N", 32}}));
  EXPECT_TRUE(reason_says(step_with(data, own),
                          "LANES=16 TILE_M=4 TILE_N=32, tuned on this device for M=6"));
  data.add(
      record_for(own, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 8}, {"TILE_N", 32}}));
  const Step step = step_with(data, own);
  EXPECT_TRUE(
      reason_says(step, "LANES=16 TILE_M=8 TILE_N=32, tuned on this device for this problem"));
  EXPECT_EQ(step.tunables, (Environment{{"LANES", 16}, {"TILE_M", 8}, {"TILE_N", 32}}));
}

TEST(PlanTuned, ATileForOtherRegistersIsNotTakenFromAnotherDevice) {
  const DeviceInfo own = saved_device("pocl_avx2");
  DeviceInfo wider = saved_device("pocl_cpu");
  wider.vendor = own.vendor;
  const Environment wide{{"LANES", 16}, {"TILE_M", 6}, {"TILE_N", 64}};
  TunedData data;
  data.add(record_for(wider, tuned_product(3, 17, 63), wide));
  EXPECT_TRUE(reason_says(step_with(data, own),
                          "LANES=8 TILE_M=6 TILE_N=16, the entry's standard (what was tuned on "
                          "another device does not fit this one and is not used)"));
  // What was measured on the device itself counts whatever it is.
  data.add(record_for(own, tuned_product(3, 17, 63), wide));
  EXPECT_TRUE(reason_says(step_with(data, own), "LANES=16 TILE_M=6 TILE_N=64, tuned on this"));
}

TEST(PlanTuned, ARecordThatIsTooFarAwaySaysNothing) {
  const DeviceInfo own = saved_device("pocl_cpu");
  TunedData data;
  data.add(
      record_for(own, tuned_product(3, 17, 1024), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}}));
  EXPECT_TRUE(
      reason_says(step_with(data, own), "LANES=16 TILE_M=6 TILE_N=64, the entry's standard"));
}

TEST(PlanTuned, ARecordOfAnotherVersionOfTheKernelIsNotUsedAndThatIsSaid) {
  const DeviceInfo own = saved_device("pocl_cpu");
  TunedRecord old =
      record_for(own, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}});
  old.hash = "of another text";
  TunedData data;
  data.add(old);
  EXPECT_TRUE(reason_says(step_with(data, own),
                          "the entry's standard (what was tuned is for another "
                          "version of the kernel and is not used)"));
}

/// As those of a user's folder that an earlier version wrote.
TEST(PlanTuned, ARecordWithTheDigestOfTheFilesIsUsed) {
  const DeviceInfo own = saved_device("pocl_cpu");
  TunedRecord old =
      record_for(own, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}});
  old.hash = catalogue().find_entry(kKernel)->program.digest.files;
  TunedData data;
  data.add(old);
  EXPECT_TRUE(
      reason_says(step_with(data, own), "LANES=16 TILE_M=1 TILE_N=16, tuned on this device"));
}

TEST(PlanTuned, ValuesThatTheEntryDoesNotListAreNotUsedAndThatIsSaid) {
  const DeviceInfo own = saved_device("pocl_cpu");
  for (const Environment& values : {Environment{{"LANES", 16}, {"TILE_M", 5}, {"TILE_N", 16}},
                                    Environment{{"TILE_M", 4}}, Environment{}}) {
    TunedData data;
    data.add(record_for(own, tuned_product(3, 17, 63), values));
    EXPECT_TRUE(reason_says(
        step_with(data, own),
        "the entry's standard (what was tuned has values that the entry does not list"));
  }
}

TEST(PlanTuned, WhatIsSetGoesFirst) {
  const DeviceInfo own = saved_device("pocl_cpu");
  TunedData data;
  data.add(
      record_for(own, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}}));
  PlanOptions options;
  options.tunables = {{kKernel, {{"TILE_M", 8}}}};
  EXPECT_TRUE(reason_says(step_with(data, own, options), "LANES=16 TILE_M=8 TILE_N=64, as set"));
}

TEST(PlanTuned, VerdictsAreObeyed) {
  const DeviceInfo own = saved_device("pocl_cpu");
  const std::string hash = catalogue().find_entry(kKernel)->program.digest.kernel;
  TunedData data;
  data.add(Verdict{TunedDevice::of(own),
                   kKernel,
                   hash,
                   {{"LANES", 16}, {"TILE_M", 6}, {"TILE_N", 64}},
                   "a flaw"});
  PlanOptions options;
  options.tuned = std::make_shared<TunedData>(data);
  const Graph graph = prepared(one_product(), 3);
  const Plan plan = make_plan(graph, catalogue(), own, options);
  const std::string text = print(plan, PlanDetail::why);
  EXPECT_NE(
      text.find("not gemm.tile_unpacked: LANES=16 TILE_M=6 TILE_N=64 is refused on this device: a "
                "flaw"),
      std::string::npos)
      << text;
  options.use = {{"gemm", kKernel}};
  EXPECT_THROW(static_cast<void>(make_plan(graph, catalogue(), own, options)), UsageError);
  // Other values, another device and another version of the kernel are not meant.
  options.tunables = {{kKernel, {{"TILE_M", 8}}}};
  EXPECT_NO_THROW(static_cast<void>(make_plan(graph, catalogue(), own, options)));
  DeviceInfo other = own;
  other.name = "another";
  EXPECT_TRUE(reason_says(step_with(data, other), "TILE_M=6"));
  // What was tuned takes the place of refused standard values.
  data.add(
      record_for(own, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}}));
  EXPECT_TRUE(reason_says(step_with(data, own), "LANES=16 TILE_M=1 TILE_N=16, tuned"));
}

TEST(PlanTuned, MeasuredEfficiencyDecidesBetweenKernels) {
  const DeviceInfo own = saved_device("pocl_cpu");
  const Graph graph = prepared(one_product(), 300);
  for (const double efficiency : {1e-4, 0.9}) {
    TunedRecord record =
        record_for(own, tuned_product(300, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}});
    record.efficiency = efficiency;
    auto data = std::make_shared<TunedData>();
    data->add(record);
    PlanOptions options;
    options.tuned = data;
    options.exclude = {"gemm.tile"};
    const Plan plan = make_plan(graph, catalogue(), own, options);
    EXPECT_EQ(count_of(plan, kKernel) > 0, efficiency > 0.5) << efficiency;
  }
}

TEST(PlanTuned, FilesAreReadBackAsTheyWereWritten) {
  const DeviceInfo own = saved_device("pocl_cpu");
  TunedData data;
  TunedRecord record =
      record_for(own, tuned_product(3, 17, 63), {{"LANES", 16}, {"TILE_M", 1}, {"TILE_N", 16}});
  record.problem.orders["rhs"] = "NK";
  record.tried = 3;
  data.add(record);
  data.add(Verdict{record.device, kKernel, record.hash, {{"TILE_M", 2}}, "killed it"});
  data.add(record_for(saved_device("mali_t628"), tuned_product(1, 1, 1), {}));
  const std::string text = print_tuning(record.device, data);
  TunedData again;
  read_tuning(parse_json(text, "file"), "file", again);
  ASSERT_EQ(again.records().size(), 1U);
  EXPECT_EQ(again.records()[0].problem, record.problem);
  EXPECT_EQ(again.records()[0].tunables, record.tunables);
  EXPECT_EQ(again.records()[0].device, record.device);
  ASSERT_EQ(again.verdicts().size(), 1U);
  EXPECT_EQ(again.verdicts()[0].why, "killed it");
  EXPECT_EQ(print_tuning(record.device, again), text);
}

TEST(PlanTuned, DamagedFilesAreModelErrorsThatNameTheKey) {
  const std::string device =
      R"("device": {"fingerprint": "f", "name": "n", "vendor": "v", "platform": "p", "kind": "cpu"})";
  const auto complaint = [](const std::string& text) {
    TunedData data;
    try {
      read_tuning(parse_json(text, "file"), "file", data);
    } catch (const ModelError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(complaint("{\"schema\": 1, " + device + R"(, "records": [], "refused": []})"),
            "nothing");
  EXPECT_NE(complaint("{\"schema\": 2, " + device + R"(, "records": [], "refused": []})")
                .find("file: schema"),
            std::string::npos);
  EXPECT_NE(complaint("{\"schema\": 1, " + device + R"(, "records": [{}], "refused": []})")
                .find("kernel"),
            std::string::npos);
  EXPECT_NE(complaint("{\"schema\": 1, " + device + R"(, "records": [], "refused": [], "x": 1})")
                .find("unknown key 'x'"),
            std::string::npos);
}

}  // namespace
}  // namespace morton::test
