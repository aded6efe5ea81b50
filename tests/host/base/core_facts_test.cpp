// SPDX-License-Identifier: Apache-2.0
#include "base/device/core_facts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// The description of a CPU whose native vector is of 8 floats.
Json described() {
  DeviceInfo info;
  info.kind = DeviceInfo::Kind::cpu;
  info.compute.native_vector_f32 = 8;
  info.core = guessed_core(info);
  return to_json(info);
}

CoreFacts core_of(const Json& json) {
  return device_info_from_json(JsonReader(json, "x.json")).core;
}

std::string fact_complaint(const Json& json) {
  try {
    (void)core_of(json);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(CoreFacts, GuessesTheCoreOfOlderDescriptions) {
  const CoreFacts facts;
  Json old = described();
  old.erase("fact_sources");
  for_each_core_fact(facts, [&](const char* key, const auto&) { old.erase(key); });
  const CoreFacts avx2 = core_of(old);
  EXPECT_EQ(avx2.lanes, 8);
  EXPECT_EQ(avx2.vector_registers, 16);
  EXPECT_EQ(avx2.sources.at("lanes"), "guessed from the native vector");
  old["native_vector_f32"] = 16;
  EXPECT_EQ(core_of(old).vector_registers, 32);
  old["native_vector_f32"] = 1;
  EXPECT_EQ(core_of(old).lanes, 4);
  EXPECT_EQ(core_of(old).vector_registers, 16);
  old["device_version"] = "OpenCL 3.0 PoCL HSTR: pthread-aarch64-unknown-linux-gnu-generic";
  EXPECT_EQ(core_of(old).vector_registers, 32);
  old["kind"] = "gpu";
  EXPECT_EQ(core_of(old).lanes, 32);
  old["lanes"] = 64;
  EXPECT_EQ(core_of(old).lanes, 64);
  EXPECT_EQ(core_of(old).sources.at("lanes"), "declared");
  EXPECT_EQ(core_of(old).sources.at("l1_bytes"), "guessed of any GPU");
}

TEST(CoreFacts, RefusesSourcesOfOtherKeys) {
  Json json = described();
  json["fact_sources"]["name"] = "OpenCL";
  EXPECT_NE(fact_complaint(json).find("'name' is no fact"), std::string::npos);
  json = described();
  json["lanes"] = 0;
  EXPECT_NE(fact_complaint(json).find("lanes: expected 1 or more"), std::string::npos);
}

}  // namespace
}  // namespace morton::test
