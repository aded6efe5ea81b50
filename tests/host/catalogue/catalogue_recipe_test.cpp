// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/algebra/view.hpp"
#include "base/error.hpp"
#include "base/files/json_reader.hpp"
#include "catalogue/catalogue.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

const Recipe& im2col() {
  static const Catalogue kCatalogue = Catalogue::standard();
  const Recipe* recipe = kCatalogue.find_recipe("conv2d.im2col_gemm");
  if (recipe == nullptr) throw ModelError("conv2d.im2col_gemm is missing");
  return *recipe;
}

std::vector<Expression> variables(const std::vector<std::string>& names) {
  std::vector<Expression> expressions;
  for (const auto& name : names) expressions.push_back(Expression::variable(name));
  return expressions;
}

TEST(Im2colGemm, HasAPackStepAndAProduct) {
  ASSERT_EQ(im2col().steps.size(), 2u);
  EXPECT_EQ(im2col().steps[0].family, "pack");
  EXPECT_EQ(im2col().steps[1].family, "gemm");
  EXPECT_EQ(im2col().steps[1].extents.at("N").print(), "N * OH * OW");
  EXPECT_TRUE(im2col().steps[0].operands.at("src").bounded);
  EXPECT_EQ(im2col().steps[0].operands.at("src").outside, 0.0);
  EXPECT_FALSE(im2col().steps[1].operands.at("lhs").bounded);
  EXPECT_EQ(im2col().temporaries.at("columns").size(), 2u);
}

TEST(Im2colGemm, WeightsAndResultAreGroupingsSoThatNothingIsRepacked) {
  const auto& operands = im2col().steps[1].operands;
  const View weights =
      View::mapped({"M", "K"}, operands.at("lhs").coordinates, variables({"O", "I", "KH", "KW"}));
  ASSERT_TRUE(weights.grouping.has_value());
  EXPECT_EQ(*weights.grouping, (Grouping{{0}, {1, 2, 3}}));
  const View dst =
      View::mapped({"M", "N"}, operands.at("dst").coordinates, variables({"B", "O", "OH", "OW"}));
  ASSERT_TRUE(dst.grouping.has_value());
  EXPECT_EQ(*dst.grouping, (Grouping{{1}, {0, 2, 3}}));
  const View columns =
      View::mapped({"K", "N"}, operands.at("rhs").coordinates, variables({"D0", "D1"}));
  ASSERT_TRUE(columns.grouping.has_value());
  EXPECT_EQ(*columns.grouping, (Grouping{{0}, {1}}));
}

TEST(Im2colGemm, ColumnsReadTheWindowsOfTheConvolution) {
  // Odd sizes, stride, padding and dilation that differ by direction.
  const Environment base{{"C", 3},  {"KH", 2}, {"KW", 3}, {"OH", 5}, {"OW", 7}, {"SH", 2},
                         {"SW", 1}, {"DH", 3}, {"DW", 2}, {"PT", 1}, {"PL", 2}};
  const auto& coordinates = im2col().steps[0].operands.at("src").coordinates;
  ASSERT_EQ(coordinates.size(), 4u);
  for (const std::int64_t c : {0, 2}) {
    for (const std::int64_t kh : {0, 1}) {
      for (const std::int64_t kw : {0, 2}) {
        for (const std::int64_t oh : {0, 4}) {
          for (const std::int64_t ow : {0, 3, 6}) {
            Environment values = base;
            values["d0"] = (c * 2 + kh) * 3 + kw;
            values["d1"] = (1 * 5 + oh) * 7 + ow;
            EXPECT_EQ(coordinates[0].evaluate(values), 1);
            EXPECT_EQ(coordinates[1].evaluate(values), c);
            EXPECT_EQ(coordinates[2].evaluate(values), oh * 2 + kh * 3 - 1);
            EXPECT_EQ(coordinates[3].evaluate(values), ow * 1 + kw * 2 - 2);
          }
        }
      }
    }
  }
}

constexpr std::string_view kGoodRecipe = R"json({
  "schema": 1, "name": "gemm.twice", "problem": "gemm", "require": ["K % S == 0", "DEPTH > 0"],
  "tunables": {"S": {"values": [2, 4]}}, "sizes": {"DEPTH": "K/S"},
  "temporaries": {"half": ["M", "K"]},
  "steps": [
    {"problem": "pack", "extents": {"D0": "M", "D1": "K"},
     "operands": {"src": {"from": "lhs(d0, d1)", "outside": 0}, "dst": "half(d0, d1)"}},
    {"problem": "gemm", "extents": {"M": "M", "N": "N", "K": "K/2"},
     "operands": {"lhs": "half(m, 2*k + DEPTH - DEPTH)", "rhs": "rhs(max(k, M), n)", "dst": "dst(m, n)"}}
  ]
})json";

/// The message when the value at `pointer` is replaced by `value` (JSON text), or "" when it reads.
std::string message_for(const std::string& pointer, const std::string& value) {
  Json json = Json::parse(kGoodRecipe);
  if (!pointer.empty()) json[Json::json_pointer(pointer)] = Json::parse(value);
  Catalogue catalogue;
  try {
    catalogue.add_text(json.dump(), "twice.json", [](const std::string&) { return ""; });
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(RecipeReader, ReadsAGoodOne) { EXPECT_EQ(message_for("", ""), ""); }

TEST(RecipeReader, SaysWhatIsWrong) {
  struct Bad {
    std::string pointer, value, message;
  };
  const std::vector<Bad> cases{
      {"/repeat", "1", "unknown key 'repeat'"},
      {"/considered", "\"never\"", "expected 'where_named', got 'never'"},
      {"/steps/1/kernel", "\"conv2d.naive\"", "expected 'gemm.'"},
      {"/problem", R"j("pack")j", "a recipe needs a problem with named dimensions"},
      {"/require", R"j(["OW > 1"])j", "require[0]: expression 'OW > 1' uses the unknown name 'OW'"},
      {"/tunables/K", R"j({"values": [2]})j", "the problem has a dimension or structure of that"},
      {"/tunables/s", R"j({"values": [2]})j", "a tunable's name is written in UPPER_CASE"},
      {"/tunables/S", R"j({"values": []})j", "tunables.S.values: expected some values"},
      {"/tunables/S", R"j({"values": [2, 2]})j", "the value 2 stands twice"},
      {"/tunables/S", R"j({"values": [2], "standard": 2})j", "unknown key 'standard'"},
      {"/sizes/S", R"j("K")j", "sizes.S: 'S' is no new name"},
      {"/sizes/WIDE", R"j("OW")j", "unknown name 'OW'"},
      {"/sizes/DEEPER", R"j("DEEPER*2")j", "sizes: 'DEEPER' rests on itself"},
      {"/temporaries/dst", R"j(["M"])j", "temporaries.dst: 'dst' is an operand of gemm"},
      {"/temporaries/half", "[]", "expected one extent for each dimension"},
      {"/temporaries/half", R"j(["Z"])j", "unknown name 'Z'"},
      {"/temporaries/spare", R"j(["M"])j", "no step writes the temporary 'spare'"},
      {"/steps", "[]", "steps: no step writes dst"},
      {"/steps/0/problem", R"j("pak")j", "steps[0].problem: unknown problem 'pak'"},
      {"/steps/0/kernel", "1", "expected a string"},
      {"/steps/0/engine", "1", "unknown key 'engine'"},
      {"/steps/1/extents", R"j({"M": "M", "N": "N"})j", "steps[1].extents: 'K' is missing"},
      {"/steps/1/extents/OW", "1", "unknown name 'OW'"},
      {"/steps/0/extents", R"j({"D0": "M", "D2": "K"})j", "unknown name 'D2'"},
      {"/steps/1/structure", R"j({"KH": 1})j", "structure: unknown name 'KH'"},
      {"/steps/1/operands/bias", R"j("rhs(k, n)")j", "gemm has no operand 'bias'"},
      {"/steps/1/operands/lhs", R"j("lhs")j", "expected a name and its coordinates"},
      {"/steps/1/operands/lhs", R"j("left(m, k)")j", "unknown target 'left'"},
      {"/steps/1/operands/lhs", R"j("lhs(m)")j", "'lhs' has 2 dimensions, got 1 coordinates"},
      {"/steps/1/operands/lhs", R"j("lhs(m, n)")j", "uses the unknown name 'n'"},
      {"/steps/1/operands/lhs", R"j("lhs(m, k+)")j", "steps[1].operands.lhs: expression"},
      // K of the product inside is not the recipe's K.
      {"/steps/1/operands/lhs", R"j("lhs(m, k + K/2)")j", "uses the unknown name 'K'"},
      {"/steps/1/operands/dst", R"j("rhs(m, n)")j", "writes 'rhs', an input of gemm"},
      {"/steps/1/operands/dst", R"j("half(m, n)")j", "'half' is written by two steps"},
      {"/steps/1/operands/dst", R"j({"to": "dst(m, n)", "outside": 0})j", "outside: expected"},
      {"/steps/1/operands/dst", R"j({"to": "dst(m, n)", "outside": "keep"})j",
       "expected 'drop' for an output"},
      {"/steps/0/operands/src", R"j("half(d0, d1)")j", "which no earlier step writes"},
      {"/steps/0/operands/src", R"j({"from": "lhs(d0, d1)", "else": 0})j", "unknown key 'else'"},
  };
  for (const auto& bad : cases) {
    const std::string message = message_for(bad.pointer, bad.value);
    EXPECT_THAT(message, testing::HasSubstr(bad.message)) << bad.pointer << " = " << bad.value;
    EXPECT_THAT(message, testing::StartsWith("twice.json: ")) << bad.pointer;
  }
}

}  // namespace
}  // namespace morton::test
