// SPDX-License-Identifier: Apache-2.0
//
// What becomes of zero points and of what stands behind an 8-bit product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/pipeline.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// The nodes after all passes: "MatMulInteger 1 sub(v, s1)", with how many side operands.
std::vector<std::string> expanded(const std::string& op, const std::string& line) {
  Graph graph = make_graph(parse_case(op, "t | " + line, "test"), 1, DataKind::integers);
  run_passes(graph, {});
  std::vector<std::string> nodes;
  for (const Node& node : graph.nodes) {
    nodes.push_back(node.op + " " + std::to_string(node.epilogue.input_count - 1) + " " +
                    node.epilogue.print());
  }
  return nodes;
}

using ::testing::ElementsAre;

TEST(ExpandIntegerProducts, AZeroPointOfZeroCostsNothing) {
  EXPECT_THAT(expanded("MatMulInteger", "3x17:u8 17x5:i8! =0:u8 =0:i8"),
              ElementsAre("MatMulInteger 0 v"));
}

TEST(ExpandIntegerProducts, SumsOverConstantsAreComputedAtOnce) {
  EXPECT_THAT(expanded("MatMulInteger", "3x17:u8 17x5:i8! =3:u8 =0:i8"),
              ElementsAre("MatMulInteger 1 sub(v, s1)"));
}

TEST(ExpandIntegerProducts, SumsOfRowsAreANodeOfTheirOwn) {
  EXPECT_THAT(expanded("MatMulInteger", "3x17:u8 17x5:i8! =3:u8 =-7:i8"),
              ElementsAre("MatMulInteger 0 mul(v, -7)", "MatMulInteger 2 sub(sub(v, s1), s2)"));
}

TEST(ExpandIntegerProducts, ZeroPointsOfLinesAreSideOperands) {
  EXPECT_THAT(expanded("MatMulInteger", "3x17:u8 17x5:i8! - 5:i8"),
              ElementsAre("MatMulInteger 0 v", "MatMulInteger 2 sub(v, mul(s1, cast_i32(s2)))"));
}

TEST(ExpandIntegerProducts, RequantisationIsTheEpilogue) {
  EXPECT_THAT(expanded("QLinearMatMul", "3x17:u8 =0.5 =0:u8 17x5:i8! =0.25 =0:i8 =2.0 =9:u8"),
              ElementsAre("MatMulInteger 0 saturate_u8(add(round(mul(cast_f32(v), 0.0625)), 9))"));
}

TEST(ExpandIntegerProducts, StagesJoinTheProduct) {
  const auto nodes = expanded("MatMulInteger",
                              "3x17:u8 17x5:i8! =3:u8 =0:i8 | | Add(5:i32!) "
                              "DoublingHighMul(5:i32!) RoundingShift(1:i32) "
                              "Clip(=0:i32;=255:i32) Cast{to=2}");
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_THAT(nodes[0], ::testing::StartsWith("MatMulInteger 6 cast_u8("));
  EXPECT_THAT(nodes[0], ::testing::HasSubstr(
                            "rounding_shift(doubling_high_mul(add(sub(v, s1), s2), s3), s4)"));
}

}  // namespace
}  // namespace morton::test
