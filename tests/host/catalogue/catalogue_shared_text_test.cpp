// SPDX-License-Identifier: Apache-2.0
//
// Text that kernels share, definitions that they ask for, and names that entries give to sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/json_reader.hpp"
#include "catalogue/catalogue.hpp"
#include "catalogue/shared_text.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kEntry = R"json({
  "schema": 1, "name": "gemm.mine", "problem": "gemm", "source": "mine.cl", "function": "mine",
  "include": ["sums.clh", "shared/more.clh"],
  "operands": {
    "lhs": {"layout": "any", "types": ["f32"]},
    "rhs": {"layout": "any", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"]}
  },
  "edges": "guard", "arguments": ["M", "N", "K", "lhs", "rhs", "dst"],
  "sizes": {"TILES": "ROWS*ceil_div(N, 4)", "ROWS": "ceil_div(M, TILE)"},
  "global": ["TILES"], "local": [1], "require": ["TILES < 7*TILE"],
  "tunables": {"TILE": {"values": [2, 4], "standard": 4}}, "epilogue": [],
  "cost": {"flop": "2*M*N*K", "work": "TILES*K", "efficiency": {"cpu": 0.1, "gpu": 1}}
})json";

constexpr std::string_view kSums = R"(// A sum.
#define FOUR 4
typedef float four __attribute__((ext_vector_type(FOUR)));
typedef struct {
  int row, column;
} position;
static float sum_of(four v) {
  if (v.x > 0) {
    return v.x + v.y;
  }
  return 0;
}
)";

std::string text_of(const std::string& name) {
  if (name == "sums.clh") return std::string(kSums);
  if (name == "shared/more.clh") return "static int twice(int a) { return 2 * a; }\n";
  if (name == "again.clh") return "static int twice(int a) { return a + a; }\n";
  if (name == "mine.cl") return "__kernel ATTRIBUTES void mine(ARGUMENTS) { twice(1); }";
  if (name == "nest.cl") return "__kernel void mine(ARGUMENTS) { NEST_UNIT(0); NEST_dst; }";
  if (name == "lanes.cl") return "__kernel void mine(ARGUMENTS) { EPILOGUE_EDGE(0, 0, 0); }";
  throw ModelError("there is no file " + name);
}

Catalogue catalogue_of(const Json& entry) {
  Catalogue catalogue;
  catalogue.add_text(entry.dump(), "mine.json", text_of);
  return catalogue;
}

std::string complaint(const Json& entry) {
  try {
    static_cast<void>(catalogue_of(entry));
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(SharedText, ItsNamesAreFound) {
  const SharedText shared = read_shared_text("sums.clh", std::string(kSums));
  EXPECT_THAT(shared.names, ElementsAre("four", "position", "sum_of"));
  EXPECT_THAT(shared.macros, ElementsAre("FOUR"));
}

TEST(SharedText, StandsBeforeTheKernelInOrder) {
  const Catalogue catalogue = catalogue_of(Json::parse(kEntry));
  const Entry& entry = *catalogue.find_entry("gemm.mine");
  const std::string& text = entry.program.source;
  EXPECT_LT(text.find("sum_of"), text.find("twice"));
  EXPECT_LT(text.find("twice"), text.find("__kernel"));
  EXPECT_LT(text.find("__kernel"), text.find("#undef FOUR"));
  EXPECT_THAT(text, HasSubstr("#line 1 \"gemm/mine.cl\""));
  EXPECT_THAT(entry.program.shared_names, ElementsAre("four", "position", "sum_of", "twice"));
}

TEST(SharedText, ItsCodeIsPartOfWhatARecordIsOf) {
  Json other = Json::parse(kEntry);
  const auto digest = [](const Json& entry) {
    return catalogue_of(entry).find_entry("gemm.mine")->program.digest.kernel;
  };
  const std::string before = digest(other);
  other["include"] = {"shared/more.clh"};
  EXPECT_NE(digest(other), before);
}

TEST(SharedText, AnythingElseIsRefused) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(read_shared_text("x.clh", text));
    } catch (const ModelError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("int a;"), HasSubstr("x.clh: expected static functions, typedefs"));
  EXPECT_THAT(message("__kernel void f() {}"), HasSubstr("got '__kernel void f() {}'"));
  EXPECT_THAT(message("static int a"), HasSubstr("x.clh: expected"));
  EXPECT_THAT(message("typedef int;"), HasSubstr("x.clh: expected"));
  EXPECT_THAT(message("#include \"y.clh\"\n"), HasSubstr("x.clh: includes another file; an entry"));
  EXPECT_EQ(message("// nothing\n"), "");
}

/// Of a catalogue's file that a user gives, which has no folder of shared texts.
TEST(SharedText, ANameThatNoFileCanHaveIsRefused) {
  const TemporaryFolder folder;
  Json entry = Json::parse(kEntry);
  entry["include"] = {std::string(300, 'n') + ".clh"};
  std::ofstream(folder / "mine.json") << entry.dump();
  std::ofstream(folder / "mine.cl") << text_of("mine.cl");
  Catalogue catalogue;
  EXPECT_THROW(catalogue.add_file(folder / "mine.json"), ModelError);
}

TEST(SharedText, WhatIsNotThereIsSaid) {
  Json entry = Json::parse(kEntry);
  entry["include"] = {"none.clh"};
  EXPECT_THAT(complaint(entry), HasSubstr("mine.json: include: there is no file none.clh"));
  entry["include"] = {"sums.clh", "sums.clh"};
  EXPECT_THAT(complaint(entry), HasSubstr("'sums.clh' stands twice"));
  entry["include"] = {"mine.cl"};
  EXPECT_THAT(complaint(entry), HasSubstr("include[0]: expected a .clh file"));
  entry["include"] = {"again.clh", "shared/more.clh"};
  EXPECT_THAT(complaint(entry),
              HasSubstr("include: gemm/again.clh and shared/more.clh both define 'twice'"));
}

TEST(OptionalDefinitions, AreThoseThatCanBeMade) {
  Json entry = Json::parse(kEntry);
  entry["uses"] = {"STORE4_dst"};
  EXPECT_THAT(complaint(entry), HasSubstr("mine.json: uses: gemm/mine.cl does not use"));
  // Of families of any rank alone.
  entry["source"] = "nest.cl";
  entry["uses"] = {"NEST_dst"};
  EXPECT_THAT(complaint(entry), HasSubstr("uses: unknown definition 'NEST_dst' (known: EPILOGUE_"));
  entry["operands"]["dst"]["layout"] = "R";
  entry["uses"] = {"STORE4_dst"};
  EXPECT_THAT(complaint(entry), HasSubstr("uses: unknown definition 'STORE4_dst'"));
  entry["source"] = "lanes.cl";
  entry.erase("uses");
  EXPECT_THAT(complaint(entry), HasSubstr("uses 'EPILOGUE_EDGE', which \"uses\" lacks"));
  entry["uses"] = {"EPILOGUE_EDGE"};
  EXPECT_THAT(complaint(entry), HasSubstr("'EPILOGUE_EDGE' needs the tunable LANES"));
  entry["tunables"]["LANES"] = {{"values", {4}}, {"standard", 4}};
  EXPECT_EQ(complaint(entry), "");
}

TEST(SizesOfEntries, StandForTheirExpressions) {
  const Catalogue catalogue = catalogue_of(Json::parse(kEntry));
  const Entry& entry = *catalogue.find_entry("gemm.mine");
  const Environment values{{"M", 9}, {"N", 5}, {"K", 10}, {"TILE", 4}};
  EXPECT_EQ(entry.launch.global[0].evaluate(values), 6);
  EXPECT_EQ(entry.cost.work.evaluate(values), 60);
  EXPECT_EQ(entry.require[0].evaluate(values), 1);
}

TEST(SizesOfEntries, RestOnNeitherThemselvesNorWhatIsUnknown) {
  Json entry = Json::parse(kEntry);
  entry["sizes"] = {{"TILES", "ROWS + 1"}, {"ROWS", "TILES + 1"}};
  EXPECT_THAT(complaint(entry), HasSubstr("mine.json: sizes: 'ROWS' rests on itself"));
  entry["sizes"] = {{"AREA", "ROWS*2"}, {"ROWS", "ROWS + 1"}};
  EXPECT_THAT(complaint(entry), HasSubstr("mine.json: sizes: 'ROWS' rests on itself"));
  entry["sizes"] = {{"TILES", "Q + 1"}};
  EXPECT_THAT(complaint(entry), HasSubstr("sizes.TILES: expression 'Q + 1'"));
  entry["sizes"] = {{"K", "M"}};
  EXPECT_THAT(complaint(entry), HasSubstr("sizes.K: 'K' is no new name"));
  entry["sizes"] = {{"2K", "M"}};
  EXPECT_THAT(complaint(entry), HasSubstr("sizes.2K: a size's name is written in letters"));
}

}  // namespace
}  // namespace morton::test
