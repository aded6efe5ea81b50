// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "host/layout_random.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::LayoutSource;
using test::next;
using ::testing::HasSubstr;

const std::vector<std::string> kMatrix{"M", "K"};
const std::vector<std::string> kImage{"N", "C", "H", "W"};
const std::vector<std::string> kWeights{"O", "I", "KH", "KW"};

using Table = std::array<std::array<int, 8>, 8>;

void expect_table(const char* text, const Table& table) {
  const BoundLayout bound(Layout::parse(text, kMatrix), {8, 8});
  for (std::int64_t row = 0; row < 8; ++row) {
    for (std::int64_t column = 0; column < 8; ++column) {
      EXPECT_EQ(bound.offset(Shape{row, column}), table[row][column])
          << text << " at row " << row << ", column " << column;
    }
  }
}

// The layouts of R17's figure 12.2, written by hand from the meaning of the names in table 8.1.
TEST(LayoutTables, RowMajor) {
  expect_table("R", {{{0, 1, 2, 3, 4, 5, 6, 7},
                      {8, 9, 10, 11, 12, 13, 14, 15},
                      {16, 17, 18, 19, 20, 21, 22, 23},
                      {24, 25, 26, 27, 28, 29, 30, 31},
                      {32, 33, 34, 35, 36, 37, 38, 39},
                      {40, 41, 42, 43, 44, 45, 46, 47},
                      {48, 49, 50, 51, 52, 53, 54, 55},
                      {56, 57, 58, 59, 60, 61, 62, 63}}});
}

TEST(LayoutTables, ColumnMajor) {
  expect_table("C", {{{0, 8, 16, 24, 32, 40, 48, 56},
                      {1, 9, 17, 25, 33, 41, 49, 57},
                      {2, 10, 18, 26, 34, 42, 50, 58},
                      {3, 11, 19, 27, 35, 43, 51, 59},
                      {4, 12, 20, 28, 36, 44, 52, 60},
                      {5, 13, 21, 29, 37, 45, 53, 61},
                      {6, 14, 22, 30, 38, 46, 54, 62},
                      {7, 15, 23, 31, 39, 47, 55, 63}}});
}

TEST(LayoutTables, MortonFourTwoLeftSide) {
  expect_table("R_2_4_R", {{{0, 1, 2, 3, 8, 9, 10, 11},
                            {4, 5, 6, 7, 12, 13, 14, 15},
                            {16, 17, 18, 19, 24, 25, 26, 27},
                            {20, 21, 22, 23, 28, 29, 30, 31},
                            {32, 33, 34, 35, 40, 41, 42, 43},
                            {36, 37, 38, 39, 44, 45, 46, 47},
                            {48, 49, 50, 51, 56, 57, 58, 59},
                            {52, 53, 54, 55, 60, 61, 62, 63}}});
}

TEST(LayoutTables, MortonFourTwoRightSide) {
  expect_table("C_4_2_C", {{{0, 4, 16, 20, 32, 36, 48, 52},
                            {1, 5, 17, 21, 33, 37, 49, 53},
                            {2, 6, 18, 22, 34, 38, 50, 54},
                            {3, 7, 19, 23, 35, 39, 51, 55},
                            {8, 12, 24, 28, 40, 44, 56, 60},
                            {9, 13, 25, 29, 41, 45, 57, 61},
                            {10, 14, 26, 30, 42, 46, 58, 62},
                            {11, 15, 27, 31, 43, 47, 59, 63}}});
}

TEST(LayoutTables, MortonFourFourRightSide) {
  expect_table("C_4_4_C", {{{0, 4, 8, 12, 32, 36, 40, 44},
                            {1, 5, 9, 13, 33, 37, 41, 45},
                            {2, 6, 10, 14, 34, 38, 42, 46},
                            {3, 7, 11, 15, 35, 39, 43, 47},
                            {16, 20, 24, 28, 48, 52, 56, 60},
                            {17, 21, 25, 29, 49, 53, 57, 61},
                            {18, 22, 26, 30, 50, 54, 58, 62},
                            {19, 23, 27, 31, 51, 55, 59, 63}}});
}

// The recursion of R17, section 8.2, with MIndex(1, 1) = 0 and rows before columns.
TEST(LayoutTables, TwoLevelsOfTiles) {
  const BoundLayout bound(Layout::parse("R_4_4_R_2_2_R", kMatrix), {8, 8});
  EXPECT_EQ(bound.offset(Shape{0, 1}), 1);
  EXPECT_EQ(bound.offset(Shape{1, 0}), 2);
  EXPECT_EQ(bound.offset(Shape{0, 2}), 4);
  EXPECT_EQ(bound.offset(Shape{2, 0}), 8);
  EXPECT_EQ(bound.offset(Shape{0, 4}), 16);
  EXPECT_EQ(bound.offset(Shape{4, 0}), 32);
  EXPECT_EQ(bound.offset(Shape{7, 6}), 62);
}

TEST(LayoutTables, DeepTilesMixTheirOrders) {
  const BoundLayout bound(Layout::parse("R_64_32_C_8_4_R", kMatrix), {128, 64});
  EXPECT_EQ(bound.offset(Shape{0, 1}), 1);
  EXPECT_EQ(bound.offset(Shape{1, 0}), 4);
  EXPECT_EQ(bound.offset(Shape{8, 0}), 8 * 4);         // the next tile of 8x4 is below
  EXPECT_EQ(bound.offset(Shape{0, 4}), 64 * 4);        // then to the right
  EXPECT_EQ(bound.offset(Shape{0, 32}), 64 * 32);      // the next tile of 64x32 is to the right
  EXPECT_EQ(bound.offset(Shape{64, 0}), 2 * 64 * 32);  // then below
}

TEST(LayoutTables, PanelsAreTilesOfAWholeExtent) {
  const Layout panels = Layout::parse("R_*_16_R", kMatrix);
  EXPECT_EQ(panels.loops(), (std::vector<Loop>{{1, 0}, {0, 0}, {1, 16}}));
  EXPECT_EQ(panels.tile(0), 1);
  EXPECT_EQ(panels.tile(1), 16);
  EXPECT_EQ(panels.print(kMatrix), "R_*_16_R");
  const BoundLayout bound(panels, {5, 32});
  EXPECT_EQ(bound.offset(Shape{4, 15}), 4 * 16 + 15);
  EXPECT_EQ(bound.offset(Shape{0, 16}), 5 * 16);
  EXPECT_EQ(Layout::parse("C_1_16_C", kMatrix), panels);
  // A star inside a tile of 8 rows is 8 rows.
  EXPECT_EQ(Layout::parse("R_8_*_R_*_4_R", kMatrix), Layout::parse("R_8_*_R_8_4_R", kMatrix));
}

// gemmlowp's NEONKernel12x4Depth2: the left side has three cells of 4 rows x 2 levels of depth, the
// rows of a cell adjacent.
TEST(LayoutTables, GemmlowpSideOfThreeCells) {
  const BoundLayout bound(Layout::parse("R_12_2_R_4_2_C", kMatrix), {24, 6});
  for (std::int64_t row = 0; row < 24; ++row) {
    for (std::int64_t depth = 0; depth < 6; ++depth) {
      const std::int64_t panel = row / 12;
      const std::int64_t cell = row % 12 / 4;
      const std::int64_t run = ((panel * 3 + depth / 2) * 3 + cell) * 8;
      EXPECT_EQ(bound.offset(Shape{row, depth}), run + depth % 2 * 4 + row % 4);
    }
  }
}

TEST(LayoutTables, ChannelsInBlocksOfFour) {
  const BoundLayout bound(Layout::parse("NCHW4c", kImage), {2, 8, 3, 5});
  Shape at(4, 0);
  do {
    const std::int64_t expected =
        (((at[0] * 2 + at[1] / 4) * 3 + at[2]) * 5 + at[3]) * 4 + at[1] % 4;
    EXPECT_EQ(bound.offset(at), expected);
  } while (next(at, bound.padded()));
}

TEST(LayoutTables, WeightsInBlocksOfInputsAndOutputs) {
  const BoundLayout bound(Layout::parse("OIHW4i4o", kWeights), {8, 12, 3, 1});
  Shape at(4, 0);
  do {
    const std::int64_t block = ((at[0] / 4 * 3 + at[1] / 4) * 3 + at[2]) * 1 + at[3];
    EXPECT_EQ(bound.offset(at), (block * 4 + at[1] % 4) * 4 + at[0] % 4);
  } while (next(at, bound.padded()));
}

TEST(LayoutText, ReadsBackWhatItPrints) {
  for (const char* text : {"R", "C", "R_2_4_R", "C_4_2_C", "C_4_4_C", "R_64_32_C_8_4_R", "R_*_16_R",
                           "C_4_*_C", "R_4_4_R_2_2_R"}) {
    EXPECT_EQ(Layout::parse(text, kMatrix).print(kMatrix), text);
  }
  for (const char* text : {"NCHW", "NHWC", "NCHW4c", "CWNH3n4c2n"}) {
    EXPECT_EQ(Layout::parse(text, kImage).print(kImage), text);
  }
  EXPECT_EQ(Layout::parse("OIHW4i4o", kWeights).print(kWeights), "OIHW4i4o");
  EXPECT_EQ(Layout::parse("", {}), Layout::row_major(0));
}

TEST(LayoutText, ExtentOneIsNoLoop) {
  EXPECT_EQ(Layout::parse("NCHW1c", kImage), Layout::parse("NCHW", kImage));
  EXPECT_EQ(Layout::parse("R_1_1_C", kMatrix), Layout::parse("R", kMatrix));
}

void expect_refused(std::string_view text, std::span<const std::string> names, const char* why) {
  try {
    const Layout layout = Layout::parse(text, names);
    FAIL() << "'" << text << "' was read as " << layout.print(names);
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("layout '" + std::string(text) + "'"));
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

TEST(LayoutText, SaysWhatIsWrong) {
  expect_refused("", kMatrix, "expected R or C");
  expect_refused("X", kMatrix, "got 'X'");
  expect_refused("RC", kMatrix, "got 'RC'");
  expect_refused("R_2_4", kMatrix, "for each level");
  expect_refused("R_2_4_", kMatrix, "expected R or C, got ''");
  expect_refused("R_0_4_R", kMatrix, "got '0'");
  expect_refused("R_-2_4_R", kMatrix, "got '-2'");
  expect_refused("R_2_4x_R", kMatrix, "got '4x'");
  expect_refused("R_8_8_R_3_8_R", kMatrix, "8 rows does not divide into tiles of 3");
  expect_refused("R_8_8_R_8_16_R", kMatrix, "8 columns does not divide into tiles of 16");
  expect_refused("R_99999999999999999999_4_R", kMatrix, "2^63-1");
  expect_refused("NCH", kImage, "dimension 3 is missing");
  expect_refused("NCHWC", kImage, "dimension 1 is named twice");
  expect_refused("NCHW4k", kImage, "'K' ends no dimension's name");
  expect_refused("NCHW4", kImage, "at '4'");
  expect_refused("NCHWc", kImage, "at 'c'");
  expect_refused("NCHW4C", kImage, "at '4C'");
  expect_refused("NCHW0c", kImage, "got '0'");
  expect_refused("N4cCHW", kImage, "outside of the loop over the whole");
  expect_refused("NCHW4294967296c4294967296c", kImage, "64 bits");
  const std::vector<std::string> ambiguous{"N", "KH", "OH"};
  expect_refused("NHH", ambiguous, "both KH and OH");
}

TEST(LayoutText, RandomTextIsAnErrorOrALayout) {
  constexpr unsigned kSeed = 4201;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  LayoutSource source(kSeed);
  constexpr std::string_view kAlphabet = "RC_0124*NHWOchw x";
  int read = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = source.coin() ? "R_" : "NCHW";
    const std::span<const std::string> names = text == "R_" ? kMatrix : kImage;
    const std::int64_t length = source.between(0, 8);
    for (std::int64_t k = 0; k < length; ++k) {
      text += kAlphabet[source.between(0, static_cast<std::int64_t>(kAlphabet.size()) - 1)];
    }
    try {
      const Layout layout = Layout::parse(text, names);
      EXPECT_EQ(Layout::parse(layout.print(names), names), layout) << text;
      ++read;
    } catch (const ModelError&) {
      continue;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 4000);
}

TEST(LayoutBounds, RefusesSizesThatDoNotFit) {
  const Layout tiles = Layout::parse("R_2_4_R", kMatrix);
  EXPECT_THROW(BoundLayout(tiles, {3, 4}), ModelError);
  EXPECT_THROW(BoundLayout(tiles, {2, -4}), ModelError);
  EXPECT_THROW(BoundLayout(tiles, {2}), ModelError);
  EXPECT_THROW(BoundLayout(tiles, {std::int64_t{1} << 32, std::int64_t{1} << 32}), ModelError);
  EXPECT_THROW(BoundLayout(tiles, {4, 8}, 15), ModelError);
  EXPECT_THROW(BoundLayout(tiles, {4, 8}, -1), ModelError);
  EXPECT_THROW(BoundLayout(tiles, {1024, 8}, std::int64_t{1} << 60), ModelError);
  EXPECT_EQ(BoundLayout(tiles, {4, 8}, 17).size(), 17 + 16);
  EXPECT_EQ(BoundLayout(tiles, {0, 8}).size(), 0);
  EXPECT_THROW(static_cast<void>(BoundLayout(tiles, {2, 4}).offset(Shape{2, 0})), InternalError);
  EXPECT_THROW(static_cast<void>(BoundLayout(tiles, {4, 8}, 20).coordinates(17)), InternalError);
  EXPECT_THROW(static_cast<void>(BoundLayout(tiles, {4, 8}).coordinates(32)), InternalError);
  EXPECT_THROW(Layout(1, {{0, 0}, {0, -1}}), ModelError);
  EXPECT_THROW(Layout::row_major(9), ModelError);
}

TEST(LayoutExpressions, ReadAsAPersonWouldWriteThem) {
  const std::vector<Expression> at{Expression::variable("m"), Expression::variable("k")};
  const std::vector<Expression> padded{Expression::variable("M_pad"),
                                       Expression::variable("K_pad")};
  const auto text = [&](const char* layout, const Expression* pitch = nullptr) {
    return offset_expression(Layout::parse(layout, kMatrix), at, padded, pitch).print();
  };
  EXPECT_EQ(text("R"), "m * K_pad + k");
  EXPECT_EQ(text("C"), "k * M_pad + m");
  EXPECT_EQ(text("R_1_4_R"), "m * K_pad + k");
  EXPECT_EQ(text("R_2_4_R"), "m / 2 * (K_pad * 2) + k / 4 * 8 + m % 2 * 4 + k % 4");
  EXPECT_EQ(text("R_*_16_R"), "k / 16 * (M_pad * 16) + m * 16 + k % 16");
  const Expression pitch = Expression::variable("ld");
  EXPECT_EQ(text("R", &pitch), "m * ld + k");
}

}  // namespace
}  // namespace morton::test
