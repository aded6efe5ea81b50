// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with an entry is said with its file, the key and what would do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/json_reader.hpp"
#include "catalogue/catalogue.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::string_view kGoodEntry = R"json({
  "schema": 1, "name": "gemm.mine", "problem": "gemm", "source": "mine.cl", "function": "mine",
  "operands": {
    "lhs": {"layout": "R_{TILE}_4_R", "types": ["f32"], "padding": "zero"},
    "rhs": {"layout": "C_4_2_C", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"], "padding": "finite"}
  },
  "align": {"M": "2*TILE"}, "edges": "pad",
  "arguments": ["M", "K_pad", "lhs", "rhs", "dst"],
  "global": ["M_pad/TILE", "round_up(N, 8)"], "local": ["TILE", 8],
  "local_memory_bytes": "4*TILE", "tunables": {"TILE": {"values": [2, 4], "standard": 4}},
  "require": ["device.is_gpu", "K % 2 == 0"], "epilogue": ["any"],
  "cost": {
  "flop" : "2*M*N*K", "bytes" : "4*M*N", "efficiency" : { "cpu" : 0.1, "gpu" : 1 }
}
})json";

std::string source_of(const std::string& name) {
  if (name != "mine.cl") throw ModelError("there is no file " + name);
  return "__kernel void mine (ARGUMENTS) {}";
}

/// The message for `text`, or "" when it reads.
std::string message_for(const std::string& text) {
  Catalogue catalogue;
  try {
    catalogue.add_text(text, "mine.json", source_of);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(EntryReader, ReadsEveryKey) {
  Catalogue catalogue;
  catalogue.add_text(kGoodEntry, "mine.json", source_of);
  const Entry* entry = catalogue.find_entry("gemm.mine");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->family, "gemm");
  EXPECT_EQ(entry->origin.file, "mine.json");
  EXPECT_EQ(entry->program.function, "mine");
  EXPECT_EQ(entry->launch.local_memory_bytes.evaluate({{"TILE", 4}}), 16);
  EXPECT_EQ(entry->require.size(), 2u);
  EXPECT_TRUE(entry->carries_epilogue);
  EXPECT_EQ(entry->cost.efficiency.at("gpu"), 1.0);
  EXPECT_EQ(entry->operands.at("dst").padding, PaddingContents::finite);
  EXPECT_EQ(standard_tunables(*entry), (Environment{{"TILE", 4}}));
  EXPECT_EQ(catalogue.find_entry("gemm.other"), nullptr);
  EXPECT_THAT(known_names(*entry),
              testing::IsSupersetOf({"M", "N_pad", "TILE", "elements_dst", "device.is_cpu"}));
}

TEST(EntryReader, AStandardMayFollowFromTheDevice) {
  Json json = Json::parse(kGoodEntry);
  json["tunables"]["TILE"] = {{"values", {2, 4, 8}},
                              {"standard", "device.lanes*2"},
                              {"tried", "TILE <= device.vector_registers"}};
  Catalogue catalogue;
  catalogue.add_text(json.dump(), "mine.json", source_of);
  const Entry& entry = *catalogue.find_entry("gemm.mine");
  const auto tile_with = [&](std::int64_t lanes) {
    return standard_tunables(entry, {{"device.lanes", lanes}}).at("TILE");
  };
  EXPECT_EQ(tile_with(4), 8);
  EXPECT_EQ(tile_with(3), 4);   // the largest value that 6 reaches
  EXPECT_EQ(tile_with(64), 8);  // the largest of all
  EXPECT_EQ(tile_with(0), 2);   // none is reached: the least
  const Tunable& tile = entry.tunables.at("TILE");
  EXPECT_EQ(tile.tried.evaluate({{"TILE", 4}, {"device.vector_registers", 3}}), 0);
  EXPECT_EQ(tile.tried.evaluate({{"TILE", 2}, {"device.vector_registers", 3}}), 1);
}

TEST(EntryReader, ARuleVoidsNothingThatWasMeasured) {
  Catalogue catalogue;
  catalogue.add_text(kGoodEntry, "mine.json", source_of);
  Json json = Json::parse(kGoodEntry);
  json["name"] = "gemm.mine_too";
  json["tunables"]["TILE"]["standard"] = "device.lanes";
  json["tunables"]["TILE"]["tried"] = "TILE <= device.lanes";
  json["cost"]["pieces"]["rhs"] = "TILE";
  catalogue.add_text(json.dump(), "mine_too.json", source_of);
  EXPECT_EQ(catalogue.find_entry("gemm.mine")->program.digest.kernel,
            catalogue.find_entry("gemm.mine_too")->program.digest.kernel);
}

TEST(EntryReader, ANameThatIsTakenReplacesNothing) {
  Catalogue catalogue;
  catalogue.add_text(kGoodEntry, "mine.json", source_of);
  try {
    catalogue.add_text(kGoodEntry, "again.json", source_of);
    FAIL() << "accepted";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("again.json: name: 'gemm.mine' is taken"));
  }
  EXPECT_EQ(catalogue.find_entry("gemm.mine")->origin.file, "mine.json");
  EXPECT_EQ(catalogue.entries().size(), 2u);  // the kernel, and the same in batches
}

/// One change to the good entry (a JSON merge patch: null removes a key) and what must be said.
struct BadEntry {
  std::string patch;
  std::string message;
};

class BadEntries : public testing::TestWithParam<BadEntry> {};

TEST_P(BadEntries, AreRefusedWithFileKeyAndReason) {
  Json json = Json::parse(kGoodEntry);
  json.merge_patch(Json::parse(GetParam().patch));
  const std::string message = message_for(json.dump());
  EXPECT_THAT(message, testing::HasSubstr(GetParam().message)) << GetParam().patch;
  EXPECT_THAT(message, testing::StartsWith("mine.json: ")) << GetParam().patch;
}

INSTANTIATE_TEST_SUITE_P(
    EntryReader, BadEntries,
    testing::Values(
        BadEntry{R"({"schema": 2})", "schema: expected 1"},
        BadEntry{R"j({"tunables": {"TILE": {"standard": "TILE + 1"}}})j", "tunables.TILE.standard"},
        BadEntry{R"j({"tunables": {"TILE": {"tried": "M > 2"}}})j", "tunables.TILE.tried"},
        BadEntry{R"({"schema": "1"})", "schema: expected an integer"},
        BadEntry{R"({"schema": null})", "the key 'schema' is missing"},
        BadEntry{R"({"colour": 1})", "unknown key 'colour'"},
        BadEntry{R"({"problem": "gem"})",
                 "problem: unknown problem 'gem' (known: arg_max, attention, average_pool2d"},
        BadEntry{R"({"problem": 3})", "problem: expected a string"},
        BadEntry{R"({"name": "mine"})", "name: expected 'gemm.'"},
        BadEntry{R"({"name": "gemm."})", "name: expected 'gemm.'"},
        BadEntry{R"({"name": "gemm.Mine"})", "name: expected 'gemm.'"},
        BadEntry{R"({"source": "../mine.cl"})", "source: expected a .cl file"},
        BadEntry{R"({"source": "mine.c"})", "source: expected a .cl file"},
        BadEntry{R"({"source": "other.cl"})", "source: there is no file other.cl"},
        BadEntry{R"({"function": "min"})", "function: mine.cl has no function 'min'"},
        BadEntry{R"({"function": "void"})", "function: mine.cl has no function 'void'"},
        BadEntry{R"({"function": "a b"})", "function: 'a b' is no name"},
        BadEntry{R"({"operands": {"bias": {}}})", "operands: unknown operand 'bias'"},
        BadEntry{R"({"operands": {"rhs": null}})", "operands: the operand 'rhs' is missing"},
        BadEntry{R"({"operands": {"lhs": {"order": 1}}})", "operands.lhs: unknown key 'order'"},
        BadEntry{R"({"operands": {"lhs": {"layout": "R_2_R"}}})", "operands.lhs.layout: layout"},
        BadEntry{R"({"operands": {"lhs": {"layout": "R_{TIL}_4_R"}}})", "unknown name 'TIL'"},
        BadEntry{R"({"operands": {"lhs": {"layout": "R_{TILE_4_R"}}})", "a '{' has no '}'"},
        BadEntry{R"({"operands": {"lhs": {"types": []}}})", "types: expected at least one"},
        BadEntry{R"({"operands": {"lhs": {"types": ["f31"]}}})", "unknown element type 'f31'"},
        BadEntry{R"({"operands": {"lhs": {"padding": "clean"}}})", "operands.lhs.padding"},
        BadEntry{R"({"operands": {"lhs": {"memory": "disk"}}})", "expected 'buffer' or 'image'"},
        BadEntry{R"({"operands": {"lhs": {"memory": "image"}}})", "'split' and the memory"},
        BadEntry{R"({"operands": {"lhs": {"split": [1, 1]}}})", "'split' and the memory"},
        BadEntry{R"({"operands": {"lhs": {"memory": "image", "split": [1]}}})", "lhs.split"},
        BadEntry{R"({"align": {"P": 4}})", "align: unknown dimension 'P' (gemm has K, M, N)"},
        BadEntry{R"({"align": {"M": "K"}})", "align.M: expression 'K' uses the unknown name 'K'"},
        BadEntry{R"({"align": {"M": 0}})", "align.M: '0' is below 1"},
        BadEntry{R"({"edges": "wrap"})", "edges: expected 'pad' or 'guard', got 'wrap'"},
        BadEntry{R"({"arguments": ["lhs", "rhs"]})", "'dst' is not among the arguments"},
        BadEntry{R"({"arguments": ["lhs", "lhs", "rhs", "dst"]})", "'lhs' stands twice"},
        BadEntry{R"({"arguments": ["lhs", "rhs", "dst", "OW"]})",
                 "arguments[3]: unknown argument 'OW'"},
        BadEntry{R"({"global": ["M"]})", "global: expected as many dimensions as 'local'"},
        BadEntry{R"({"global": ["M+", 8]})", "global[0]: expression 'M+'"},
        BadEntry{R"({"global": ["Q", 8]})", "uses the unknown name 'Q' (known here: K, "},
        BadEntry{R"({"global": [1.5, 8]})", "expected an expression (a string or an integer)"},
        BadEntry{R"({"local": ["M", 8]})", "local[0]: expression 'M' uses the unknown name 'M'"},
        BadEntry{R"({"local": []})", "local: expected 1 to 3 dimensions, got 0"},
        BadEntry{R"({"local": [1, 1, 1, 1]})", "local: expected 1 to 3 dimensions, got 4"},
        BadEntry{R"({"local": ["TILE - 4", 8]})", "expected 1 or more"},
        BadEntry{R"({"local_memory_bytes": "LANES"})", "local_memory_bytes: expression"},
        BadEntry{R"({"tunables": {"TILE": {"standard": 3}}})", "the standard 3 is not among"},
        BadEntry{R"({"tunables": {"TILE": {"values": [4, 4]}}})", "the value 4 stands twice"},
        BadEntry{R"({"tunables": {"TILE": {"values": [4, -1]}}})", "the value -1 is negative"},
        BadEntry{R"({"tunables": {"tile": {"values": [1], "standard": 1}}})", "UPPER_CASE"},
        BadEntry{R"({"tunables": {"K": {"values": [1], "standard": 1}}})", "tunables.K: the"},
        BadEntry{R"({"require": ["device.colour"]})", "unknown name 'device.colour'"},
        BadEntry{R"({"epilogue": ["relu"]})", "epilogue: expected [] or [\"any\"]"},
        BadEntry{R"({"epilogue": null})", "the key 'epilogue' is missing"},
        BadEntry{R"({"cost": {"flop": null}})", "cost: the key 'flop' is missing"},
        BadEntry{R"({"cost": {"efficiency": {"gpu": 0}}})", "efficiency.gpu: expected a share"},
        BadEntry{R"({"cost": {"efficiency": {"cpu": 1.01}}})", "efficiency.cpu: expected a share"},
        BadEntry{R"({"cost": {"efficiency": {"cpu": null}}})", "the key 'cpu' is missing"},
        BadEntry{R"({"cost": {"efficiency": {"fpga": 1}}})", "unknown key 'fpga'"},
        BadEntry{R"({"cost": {"pieces": {"middle": 4}}})", "pieces: expected one operand"},
        BadEntry{R"({"cost": {"pieces": {"lhs": 4, "rhs": 4}}})", "pieces: expected one operand"}));

constexpr std::string_view kUnboundEntry = R"json({
  "schema": 1, "name": "sigmoid.mine", "problem": "sigmoid", "source": "mine.cl",
  "function": "mine", "edges": "guard", "arguments": ["elements_dst", "src", "dst"],
  "operands": {
    "src": {"layout": "unbound", "types": ["f32"], "padding": "finite"},
    "dst": {"layout": "unbound", "types": ["f32"], "padding": "finite"}
  },
  "global": ["elements_dst"], "local": [1], "require": [], "epilogue": [],
  "cost": {"flop": 0, "efficiency": {"cpu": 1, "gpu": 1}}
})json";

TEST(EntryReader, UnboundOperandsLieAlikeAndNothingElse) {
  const auto message_with = [](const char* patch) {
    Json json = Json::parse(kUnboundEntry);
    json.merge_patch(Json::parse(patch));
    return message_for(json.dump());
  };
  EXPECT_EQ(message_with("{}"), "");
  EXPECT_EQ(message_with(R"({"operands": {"src": {"padding": "zero"}}})"), "");
  const BadEntry wrong[] = {
      {R"({"operands": {"dst": {"layout": "R"}}})", "which both have it"},
      {R"({"name": "max_pool2d.mine", "problem": "max_pool2d"})", "which max_pool2d is not"},
      {R"({"name": "softmax.mine", "problem": "softmax"})", "which softmax is not"},
      {R"({"name": "pack.mine", "problem": "pack"})", "which pack is not"},
      {R"({"operands": {"src": {"types": ["f32", "f16"]}}})", "operands: unbound operands have"},
      {R"({"operands": {"src": {"memory": "image", "split": [1, 1]}}})",
       "operands.src: an unbound"},
      {R"({"operands": {"dst": {"memory": "image", "split": [1, 1]}}})",
       "operands.dst: an unbound"},
      {R"({"operands": {"src": {"padding": null}}})", "expected 'finite' or stronger, got 'undef"},
      {R"({"operands": {"dst": {"padding": "zero"}}})",
       "expected 'zero' or stronger, got 'finite'"},
  };
  for (const BadEntry& bad : wrong) {
    EXPECT_THAT(message_with(bad.patch.c_str()), testing::HasSubstr(bad.message)) << bad.patch;
  }
}

TEST(EntryReader, WhatIsNoJsonObjectIsRefused) {
  EXPECT_THAT(message_for("[]"), testing::HasSubstr("mine.json: expected an object, got array"));
  EXPECT_THAT(message_for("{"), testing::HasSubstr("mine.json: is no valid JSON"));
  EXPECT_THAT(message_for(R"({"schema": 1, "schema": 1})"), testing::HasSubstr("stands twice"));
}

}  // namespace
}  // namespace morton::test
