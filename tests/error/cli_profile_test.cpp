// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "error/cli_program.hpp"
#include "morton/device.hpp"
#include "morton/tools/probe.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFailed = 1;

/// Keeps peaks for the device that commands take by themselves, in `folder`.
void keep(const fs::path& folder, double gflops, double gigabytes_per_second) {
  DeviceConfig config;
  config.cache_dir = folder.string();
  ProbeResult result;
  result.date = "2026-01-31";
  result.arithmetic = {{"f32", 1, "fma", {gflops, gflops, 3}}};
  result.memory = {
      {MeasuredMemory::Access::read, 4096, {gigabytes_per_second, gigabytes_per_second, 3}}};
  result.launch_us = result.launch_and_wait_us = {1.0, 1.0, 3};
  (void)keep_peaks(Device::open("", config), result);
}

/// A product of 3 x 17 x 5, whose kernels build fast.
std::string tiny_model(const fs::path& folder) {
  onnx::ModelProto model = model_with_input({3, 17});
  add_weights(model, "w", {17, 5});
  add_node(model, "MatMul", {"x", "w"}, "y");
  return save(model, folder / "product.onnx");
}

std::vector<std::string> profile(const std::string& model, const fs::path& cache,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"profile", model, "-n", "5", "--cache-dir", cache.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CliProfile, WhatCannotBe) {
  const TemporaryFolder cache;
  expect_error(run_program({"profile"}), kUsage, "model");
  expect_error(run_program(profile(kLenet, cache.path(), {"--layers", "layers.txt"})), kUsage,
               "ends in .csv or .json");
  expect_error(run_program(profile(kLenet, cache.path(), {"-d", "0:0,0:0"})), kUsage, "one device");
  expect_error(run_program(profile(kLenet, cache.path(), {"--warmup", "-1s"})), kUsage, "-1s");
  expect_error(run_program(profile(kLenet, cache.path(), {"--format", "xml"})), kUsage, "xml");
  expect_error(run_program({"probe", "--format", "xml"}), kUsage, "xml");
  expect_error(run_program({"probe", "model.onnx"}), kUsage, "model.onnx");
  expect_error(run_program({"probe", "-d", "99:99"}), kUsage, "99:99");
  expect_error(run_program({"probe", "--what", "order,nothing"}), kUsage, "nothing");
  expect_error(run_program({"probe", "--what", "order", "--groups", "3"}), kUsage, "33x33");
  expect_error(run_program({"probe", "--what", "order", "--groups", "0x3"}), kUsage, "0x3");
  const Outcome first = run_program(
      {"probe", "--what", "all", "--groups", "257x3", "--cache-dir", cache.path().string()});
  expect_error(first, kUsage, "1 to 256");
  EXPECT_FALSE(fs::exists(cache.path() / "roofs")) << "the peaks were measured first";
  expect_error(run_program({"probe", "--svg", "x.svg"}), kUsage, "no picture");
  expect_error(run_program({"probe", "--groups", "3x3"}), kUsage,
               "name that too, with --what order");
  expect_error(run_program({"probe", "--html", "none/x.html"}), kUsage, "there is no folder none");
}

TEST(CliProfile, StepsAddUpToNoMoreThanTheWhole) {
  const TemporaryFolder cache;
  keep(cache.path(), 1e6, 1e6);
  const Outcome outcome = run_program(profile(kLenet, cache.path(), {"--format", "json"}));
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["roofs"]["source"], "measured 2026-01-31");
  ASSERT_GE(report["steps"].size(), 5U);
  for (const json& step : report["steps"]) {
    SCOPED_TRACE(step["name"]);
    EXPECT_GT(step["host_us"].get<double>(), 0.0);
    EXPECT_GT(step["enqueue_us"].get<double>(), 0.0);
    EXPECT_GT(step["bytes"].get<double>(), 0.0);
    EXPECT_LE(step["footprint_bytes"].get<double>(), step["bytes"].get<double>());
    EXPECT_NE(step["formats"].get<std::string>().find("f32"), std::string::npos);
    if (step["device_us"].is_null()) continue;
    const double us = step["device_us"].get<double>();
    EXPECT_NEAR(step["gflops"].get<double>(), step["flop"].get<double>() / us / 1e3, 1e-6);
    EXPECT_NEAR(step["share_of_bandwidth"].get<double>(),
                step["bytes"].get<double>() / us / 1e3 / 1e6, 1e-9);
  }
  const json& clocks = report["clocks"];
  if (clocks["device_sum_ms"].is_null()) GTEST_SKIP() << "this device gives no times";
  EXPECT_LE(clocks["device_sum_ms"].get<double>(),
            1.05 * clocks["host_end_to_end_ms"].get<double>());
  EXPECT_LE(clocks["host_enqueue_ms"].get<double>(), clocks["host_end_to_end_ms"].get<double>());
  EXPECT_GE(clocks["between_steps_ms"].get<double>(), 0.0);
  EXPECT_LE(clocks["between_steps_ms"].get<double>(), clocks["host_end_to_end_ms"].get<double>());
}

TEST(CliProfile, StepsOnTheHostHaveItsTimesAndNoShareOfTheDevicesPeaks) {
  const TemporaryFolder cache;
  // RooflinePeaks so low that any share of them would be impossible.
  keep(cache.path(), 1e-6, 1e6);
  const Outcome outcome = run_program(
      profile(tiny_model(cache.path()), cache.path(),
              {"--format", "json", "--use", "gemm=gemm.eigen", "--exclude", "gemm.swapped"}));
  if (outcome.err.find("device.unified_memory") != std::string::npos) {
    GTEST_SKIP() << "the device has memory of its own";
  }
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report["steps"].size(), 1U) << outcome.text();
  const json& step = report["steps"][0];
  EXPECT_EQ(step["kernel"], "gemm.eigen");
  EXPECT_EQ(step["place"], "host");
  EXPECT_EQ(step["bound_by"], "host");
  EXPECT_GT(step["host_us"].get<double>(), 0.0);
  for (const char* key : {"device_us", "gflops", "share_of_peak", "share_of_bandwidth"}) {
    EXPECT_TRUE(step[key].is_null()) << key;
  }
  const json& clocks = report["clocks"];
  EXPECT_TRUE(clocks["device_sum_ms"].is_null());
  EXPECT_GT(clocks["on_host_ms"].get<double>(), 0.0);
  EXPECT_LE(clocks["on_host_ms"].get<double>(), 1.05 * clocks["host_enqueue_ms"].get<double>());
  EXPECT_NE(outcome.err.find("no step runs on the device"), std::string::npos) << outcome.err;
}

TEST(CliProfile, RoutinesOfALibraryHaveTheirOwnTimes) {
  const TemporaryFolder cache;
  keep(cache.path(), 1e6, 1e6);
  onnx::ModelProto model = model_with_input({3, 17});
  add_weights(model, "w", {17, 5});
  add_weights(model, "b", {5});
  add_node(model, "MatMul", {"x", "w"}, "product");
  add_node(model, "Add", {"product", "b"}, "y");
  const std::string path = save(model, cache.path() / "affine.onnx");
  const Outcome outcome = run_program(profile(path, cache.path(),
                                              {"--warmup", "0ms", "--format", "json", "--use",
                                               "gemm=gemm.clblast", "--exclude", "gemm.swapped"}));
  if (outcome.text().find("this build has no CLBlast") != std::string::npos) {
    GTEST_SKIP() << "this build has no CLBlast";
  }
  expect_success(outcome);
  const json steps = json::parse(outcome.out)["steps"];
  ASSERT_EQ(steps.size(), 1U) << outcome.text();
  const json& routines = steps[0]["routines_us"];
  if (steps[0]["device_us"].is_null()) GTEST_SKIP() << "this device gives no times";
  ASSERT_EQ(routines.size(), 2U) << routines;
  for (const char* routine : {"xCOPY", "xGEMM"}) {
    EXPECT_GT(routines[routine].get<double>(), 0.0) << routine;
    EXPECT_LT(routines[routine].get<double>(), steps[0]["device_us"].get<double>()) << routine;
  }
}

TEST(CliProfile, LayersHaveOneRecordForEachStep) {
  const TemporaryFolder cache;
  keep(cache.path(), 1e6, 1e6);
  const std::string csv_path = (cache.path() / "layers.csv").string();
  const std::string json_path = (cache.path() / "layers.json").string();
  expect_success(
      run_program(profile(tiny_model(cache.path()), cache.path(), {"--layers", csv_path})));
  expect_success(
      run_program(profile(tiny_model(cache.path()), cache.path(), {"--layers", json_path})));
  const json records = json::parse(read_bytes(json_path));
  std::istringstream lines(read_bytes(csv_path));
  std::string header;
  std::getline(lines, header);
  EXPECT_EQ(header,
            "index,name,kernel,role,place,formats,work_group,global,host_us,enqueue_us,device_us,"
            "estimated_us,flop,bytes,footprint_bytes,gflops,share_of_peak,gigabytes_per_second,"
            "bandwidth_peak,share_of_bandwidth,bound_by");
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.starts_with(std::to_string(count) + ",")) << line;
  }
  EXPECT_EQ(count, records.size());
}

TEST(CliProfile, AKeptPeakThatAStepExceedsIsMeasuredAgain) {
  const TemporaryFolder cache;
  keep(cache.path(), 1e-6, 1e6);
  const Outcome outcome =
      run_program(profile(tiny_model(cache.path()), cache.path(), {"--format", "json"}));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("step '"), std::string::npos) << outcome.text();
  EXPECT_NE(outcome.err.find("measured again"), std::string::npos) << outcome.text();
  const json report = json::parse(outcome.out);
  EXPECT_TRUE(report["roofs"]["source"].get<std::string>().ends_with("quickly")) << outcome.text();
  EXPECT_GT(report["roofs"]["gflops_f32"].get<double>(), 1e-3);
}

TEST(CliProfile, WithoutKeptPeaksAShortProbeIsSaid) {
  const TemporaryFolder cache;
  const Outcome outcome =
      run_program(profile(tiny_model(cache.path()), cache.path(), {"--format", "json"}));
  EXPECT_NE(outcome.err.find("a short probe"), std::string::npos) << outcome.text();
  const json report = json::parse(outcome.out);
  EXPECT_TRUE(report["roofs"]["source"].get<std::string>().ends_with("quickly")) << outcome.text();
  EXPECT_FALSE(fs::exists(cache.path() / "roofs")) << "nothing is kept that was not asked for";
}

TEST(CliProbe, KeepsWhatDevicesAndPlansThenSay) {
  const TemporaryFolder cache;
  const std::map<std::string, std::string> variables{{"MORTON_CACHE_DIR", cache.path().string()}};
  const Outcome probe = run_program({"probe", "--quick", "--format", "json"}, variables);
  expect_success(probe);
  const json result = json::parse(probe.out);
  for (const char* list : {"arithmetic", "memory", "transfers"}) {
    ASSERT_FALSE(result.at(list).empty()) << list;
  }
  EXPECT_TRUE(fs::exists(result.at("kept").get<std::string>()));
  const std::string source = result["roofs"]["source"];
  EXPECT_NE(run_program({"devices"}, variables).out.find(source), std::string::npos);
  EXPECT_NE(run_program({"plan", kLenet, "--why"}, variables).out.find(source), std::string::npos);
  write_bytes(result["kept"].get<std::string>(), "{");
  const Outcome damaged = run_program({"plan", kLenet}, variables);
  expect_success(damaged);
  EXPECT_NE(damaged.err.find("warning: "), std::string::npos) << damaged.text();
  EXPECT_NE(damaged.err.find("morton probe"), std::string::npos) << damaged.text();
}

TEST(CliProbe, GivesWhatIsAskedForByNameAndKeepsNothing) {
  const TemporaryFolder cache;
  const std::string picture = (cache.path() / "x.svg").string();
  const std::vector<std::string> asked{"probe",    "--what", "copies,order", "--quick",
                                       "--groups", "3x2",    "--cache-dir",  cache.path().string(),
                                       "--svg",    picture,  "--format",     "json"};
  const Outcome probe = run_program(asked);
  expect_success(probe);
  const json result = json::parse(probe.out);
  EXPECT_FALSE(result.contains("peaks"));
  EXPECT_EQ(result.at("order").at("groups"), json({3, 2}));
  EXPECT_EQ(result["order"].at("repetitions").at(0).at("tickets").size(), 6U);
  EXPECT_FALSE(result.at("copies").empty());
  EXPECT_FALSE(fs::exists(cache.path() / "roofs"));
  EXPECT_FALSE(fs::exists(picture));
  for (const char* name : {"x-order.svg", "x-copies.svg"}) {
    EXPECT_TRUE(read_bytes(cache.path() / name).starts_with("<svg ")) << name;
  }
  std::vector<std::string> as_records = asked;
  as_records.back() = "csv";
  const Outcome records = run_program(as_records);
  expect_success(records);
  EXPECT_TRUE(records.out.starts_with("what,how,size,unit,median,best,samples\n")) << records.out;
}

}  // namespace
}  // namespace morton::test
