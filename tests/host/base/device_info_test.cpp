// SPDX-License-Identifier: Apache-2.0
#include "base/device/device_info.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// A device whose fields all differ from their defaults.
DeviceInfo example() {
  DeviceInfo info;
  info.id = "1:2";
  info.driver.platform = "Platform";
  info.driver.platform_version = "OpenCL 3.0 P";
  info.name = "Device \"X\"";
  info.vendor = "Vendor";
  info.driver.version = "4.5";
  info.driver.device_version = "OpenCL 1.2 D";
  info.driver.opencl_c_version = "OpenCL C 1.2";
  info.features.extensions = "cl_khr_fp16 cl_khr_fp64";
  info.driver.profile = "FULL_PROFILE";
  info.kind = DeviceInfo::Kind::cpu;
  info.compute.units = 3;
  info.compute.clock_mhz = 2700;
  info.compute.max_work_group_size = 4096;
  info.compute.max_work_item_sizes = {4096, 17, 63};
  info.memory.global_bytes = (std::int64_t{1} << 40) + 1;
  info.memory.max_allocation_bytes = std::int64_t{1} << 33;
  info.memory.cache_bytes = 12345;
  info.memory.cache_line_bytes = 64;
  info.memory.local_bytes = 32768;
  info.memory.constant_buffer_bytes = 65536;
  info.memory.local_is_dedicated = true;
  info.memory.is_unified = true;
  info.image.supported = true;
  info.image.from_buffer = true;
  info.image.max_width = 8192;
  info.image.max_height = 8191;
  info.image.buffer_max_texels = 65537;
  info.image.pitch_alignment_texels = 16;
  info.memory.base_alignment_bytes = 512;
  info.compute.preferred_vector_f32 = 4;
  info.compute.native_vector_f32 = 8;
  info.compute.native_vector_f16 = 16;
  info.features.fp16 = true;
  info.features.fp64 = true;
  info.features.profiling = false;
  info.features.out_of_order = true;
  info.features.compiler = false;
  info.features.timer_resolution_ns = 80.5;
  info.peaks = {61.5,
                4.25,
                9.5,
                19.5,
                {{4096, 100.5}, {1 << 20, 4.5}},
                "measured",
                {30.5, {{1024, 0.5}, {65536, 7.25}}}};
  info.core = {8, 17, 3, 49152, 2097152, 2, true, guessed_core(info).sources};
  info.compute.cuda_capability = 90;
  info.quirks = {"a-bug", "another"};
  return info;
}

DeviceInfo read(const Json& json) { return device_info_from_json(JsonReader(json, "x.json")); }

/// What reading `json` complains about.
std::string complaint(const Json& json) {
  try {
    (void)read(json);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(DeviceInfoJson, ComesBackAsItWas) {
  const Json json = to_json(example());
  const Json again = to_json(read(parse_json(json.dump(), "x.json")));
  EXPECT_EQ(json.dump(2), again.dump(2));
}

TEST(DeviceInfoJson, HoldsEveryField) {
  // A field that for_each_field forgets would come back with its default; example() has none.
  const Json defaults = to_json(DeviceInfo{});
  const Json full = to_json(example());
  EXPECT_EQ(full.size(), 51U);
  for (const auto& [key, value] : full.items()) {
    if (key == "schema") continue;
    EXPECT_NE(value, defaults.at(key)) << key;
  }
  EXPECT_EQ(full.at("roofs").size(), 7U);
}

/// What older descriptions lack.
bool is_fact_of_core(const std::string& key) {
  const CoreFacts core;
  bool is_one = key == "fact_sources";
  for_each_core_fact(core, [&](const char* name, const auto&) { is_one |= key == name; });
  return is_one;
}

TEST(DeviceInfoJson, MissesEachKeyByName) {
  const Json full = to_json(example());
  for (const auto& [key, value] : full.items()) {
    if (is_fact_of_core(key)) continue;
    Json less = full;
    less.erase(key);
    EXPECT_NE(complaint(less).find("'" + key + "' is missing"), std::string::npos) << key;
  }
}

TEST(DeviceInfoJson, RefusesWrongTypesAndUnknownKeys) {
  const Json full = to_json(example());
  for (const auto& [key, value] : full.items()) {
    Json wrong = full;
    wrong[key] = nullptr;
    EXPECT_NE(complaint(wrong).find(key), std::string::npos) << key;
  }
  Json unknown = full;
  unknown["warp_size"] = 32;
  EXPECT_NE(complaint(unknown).find("'warp_size'"), std::string::npos);
  unknown = full;
  unknown["roofs"]["gflops_f8"] = 1;
  EXPECT_NE(complaint(unknown).find("'gflops_f8'"), std::string::npos);
}

TEST(DeviceInfoJson, RefusesFootprintsThatDoNotGoUp) {
  const auto with = [](const Json& bandwidth) {
    Json json = to_json(example());
    json["roofs"]["bandwidth"] = bandwidth;
    return json;
  };
  const auto point = [](std::int64_t footprint, double rate) -> Json {
    return {{"footprint_bytes", footprint}, {"gigabytes_per_second", rate}};
  };
  EXPECT_EQ(complaint(with(Json::array({point(1, 3.0), point(2, 0.0)}))), "nothing");
  EXPECT_EQ(complaint(with(Json::array())), "nothing");
  EXPECT_NE(complaint(with(Json::array({point(0, 3.0)}))).find("more than 0 bytes"),
            std::string::npos);
  EXPECT_NE(
      complaint(with(Json::array({point(5, 3.0), point(5, 3.0)}))).find("more than 5 bytes, got 5"),
      std::string::npos);
  EXPECT_NE(complaint(with(Json::array({point(5, -3.0)}))).find("not negative"), std::string::npos);
  EXPECT_NE(complaint(with(Json::array({Json{{"footprint_bytes", 5}}}))).find("bandwidth"),
            std::string::npos);
}

TEST(DeviceInfoJson, KnowsNoHostInFilesFromBeforeItWasMeasured) {
  Json older = to_json(example());
  older["roofs"].erase("host");
  const DeviceInfo info = read(older);
  EXPECT_EQ(info.peaks.host.launch_and_step_us, 0.0);
  EXPECT_TRUE(info.peaks.host.products.empty());
  EXPECT_EQ(info.peaks.gflops_f32, 61.5);
}

TEST(DeviceInfoJson, RefusesProductsThatTakeNoTimeOrDoNotGoUp) {
  const auto with = [](const Json& products) {
    Json json = to_json(example());
    json["roofs"]["host"]["products"] = products;
    return json;
  };
  const auto product = [](std::int64_t flop, double us) -> Json {
    return {{"flop", flop}, {"us", us}};
  };
  EXPECT_EQ(complaint(with(Json::array({product(2, 1.0), product(3, 0.5)}))), "nothing");
  EXPECT_EQ(complaint(with(Json::array())), "nothing");
  EXPECT_NE(complaint(with(Json::array({product(5, 1.0), product(5, 2.0)}))).find("more than 5 op"),
            std::string::npos);
  EXPECT_NE(complaint(with(Json::array({product(0, 1.0)}))).find("more than 0 op"),
            std::string::npos);
  EXPECT_NE(complaint(with(Json::array({product(2, 0.0)}))).find("more than 0"), std::string::npos);
  EXPECT_NE(complaint(with(Json::array({product(2, -1.0)}))).find("not negative"),
            std::string::npos);
  Json unknown = to_json(example());
  unknown["roofs"]["host"]["threads"] = 2;
  EXPECT_NE(complaint(unknown).find("'threads'"), std::string::npos);
}

TEST(DeviceInfoPeaks, BandwidthAtAFootprintIsTheBestFromThereOn) {
  RooflinePeaks peaks;
  peaks.gigabytes_per_second = 7.0;
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 1), 7.0);
  peaks.bandwidth = {{1000, 50.0}, {2000, 90.0}, {4000, 10.0}};
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 1), 90.0) << "caches hold what is smaller";
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 1999), 90.0);
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 2000), 90.0);
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 3999), 90.0) << "part of it fits the smaller cache";
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 4000), 10.0);
  EXPECT_DOUBLE_EQ(bandwidth_at(peaks, 1 << 30), 10.0);
}

TEST(DeviceInfoJson, RefusesValuesThatNoDeviceHas) {
  for (const char* key : {"compute_units", "max_work_group_size", "base_address_alignment_bytes"}) {
    Json wrong = to_json(example());
    wrong[key] = 0;
    EXPECT_NE(complaint(wrong).find(key), std::string::npos) << key;
  }
  Json wrong = to_json(example());
  wrong["clock_mhz"] = -1;
  EXPECT_NE(complaint(wrong).find("clock_mhz"), std::string::npos);
  wrong = to_json(example());
  wrong["max_work_item_sizes"] = {1, 2};
  EXPECT_NE(complaint(wrong).find("3 sizes"), std::string::npos);
  wrong["max_work_item_sizes"] = {1, 0, 2};
  EXPECT_NE(complaint(wrong).find("max_work_item_sizes"), std::string::npos);
  wrong = to_json(example());
  wrong["kind"] = "tpu";
  EXPECT_NE(complaint(wrong).find("'tpu'"), std::string::npos);
  wrong = to_json(example());
  wrong["schema"] = 2;
  EXPECT_NE(complaint(wrong).find("schema"), std::string::npos);
  EXPECT_NE(complaint(Json::array()).find("x.json"), std::string::npos);
}

TEST(DeviceInfoEnvironment, ShowsNumbersAndTruths) {
  const Environment environment = environment_of(example());
  EXPECT_EQ(environment.at("device.compute_units"), 3);
  EXPECT_EQ(environment.at("device.is_cpu"), 1);
  EXPECT_EQ(environment.at("device.is_gpu"), 0);
  EXPECT_EQ(environment.at("device.fp16"), 1);
  EXPECT_EQ(environment.at("device.profiling"), 0);
  EXPECT_EQ(environment.at("device.max_work_item_sizes1"), 17);
  EXPECT_EQ(environment.at("device.lanes"), 8);
  EXPECT_EQ(environment.at("device.vector_registers"), 17);
  EXPECT_EQ(environment.at("device.dot_products"), 1);
  EXPECT_EQ(environment.count("device.name"), 0U);
  const auto rule =
      Expression::parse("device.is_cpu and device.local_memory_bytes >= 32768", "test");
  EXPECT_EQ(rule.evaluate(environment), 1);
}

TEST(DeviceInfoFingerprint, IsOneLineAndDiffersByDriverAndUnits) {
  DeviceInfo info = example();
  info.name = "two\nlines";
  EXPECT_EQ(fingerprint(info).find('\n'), std::string::npos);
  DeviceInfo newer = info;
  newer.driver.version = "4.6";
  EXPECT_NE(fingerprint(info), fingerprint(newer));
  DeviceInfo wider = info;
  wider.compute.units = 4;
  EXPECT_NE(fingerprint(info), fingerprint(wider));
  DeviceInfo moved = info;
  moved.id = "7:7";
  EXPECT_EQ(fingerprint(info), fingerprint(moved));
}

TEST(DeviceInfoClasses, TheMostParticularComesFirst) {
  using Classes = std::vector<std::string_view>;
  DeviceInfo info;
  info.kind = DeviceInfo::Kind::gpu;
  info.memory.is_unified = true;
  EXPECT_EQ(classes_of(info), (Classes{"gpu_without_local_memory", "low_power_gpu", "gpu"}));
  info.memory.local_is_dedicated = true;
  EXPECT_EQ(classes_of(info), (Classes{"low_power_gpu", "gpu"}));
  info.memory.is_unified = false;
  EXPECT_EQ(classes_of(info), (Classes{"gpu"}));
  info.kind = DeviceInfo::Kind::cpu;
  EXPECT_EQ(classes_of(info), (Classes{"cpu"}));
}

TEST(DeviceInfoLimits, SomeDriversLaunchWithMoreLocalMemoryThanTheyState) {
  DeviceInfo info;
  info.memory.local_bytes = 48 << 10;
  EXPECT_EQ(local_memory_limit(info), 48 << 10);
  info.compute.cuda_capability = 80;
  EXPECT_EQ(local_memory_limit(info), 48 << 10);
  info.compute.cuda_capability = 90;
  EXPECT_EQ(local_memory_limit(info), 227 << 10);
  info.memory.local_bytes = 256 << 10;
  EXPECT_EQ(local_memory_limit(info), 256 << 10);
}

TEST(DeviceInfoPeaks, AreGuessedByKind) {
  DeviceInfo info;
  info.kind = DeviceInfo::Kind::cpu;
  info.compute.units = 2;
  info.compute.clock_mhz = 2000;
  info.compute.native_vector_f32 = 8;
  EXPECT_DOUBLE_EQ(guessed_peaks(info).gflops_f32, 128.0);
  info.kind = DeviceInfo::Kind::gpu;
  EXPECT_DOUBLE_EQ(guessed_peaks(info).gflops_f32, 136.0);
  info.memory.local_is_dedicated = true;
  EXPECT_DOUBLE_EQ(guessed_peaks(info).gflops_f32, 1024.0);
  info.compute.clock_mhz = 0;
  const RooflinePeaks peaks = guessed_peaks(info);
  EXPECT_GT(peaks.gflops_f32, 0.0);
  EXPECT_GT(peaks.gigabytes_per_second, 0.0);
  EXPECT_GT(peaks.launch_us, 0.0);
  EXPECT_NE(peaks.source.find("guessed"), std::string::npos);
}

}  // namespace
}  // namespace morton::test
