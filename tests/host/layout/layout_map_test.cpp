// SPDX-License-Identifier: Apache-2.0
//
// `morton layout`: maps of layouts, and the lines that a product's work-group fetches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "morton/error.hpp"
#include "morton/tools/layout.hpp"

namespace morton::test {
namespace {

TEST(LayoutMap, ThatOfR17sFigures) {
  const LayoutMap map = layout_map("R_2_4_R", {4, 8});
  EXPECT_EQ(map.dimensions, (std::vector<std::string>{"M", "N"}));
  EXPECT_THAT(map.offsets,
              testing::ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18,
                                   19, 24, 25, 26, 27, 20, 21, 22, 23, 28, 29, 30, 31));
}

TEST(LayoutMap, PadsToTilesAndHoldsEachPlaceOnce) {
  LayoutMap map = layout_map("NCHW4c", {1, 6, 2, 3});
  EXPECT_EQ(map.padded, (Shape{1, 8, 2, 3}));
  std::ranges::sort(map.offsets);
  for (std::size_t i = 0; i < map.offsets.size(); ++i) {
    EXPECT_EQ(map.offsets[i], static_cast<std::int64_t>(i));
  }
}

TEST(LayoutMap, RefusesWhatIsNone) {
  EXPECT_THROW((void)layout_map("R_2_4_Q", {8, 8}), UsageError);
  EXPECT_THROW((void)layout_map("R_2_4_R", {8}), UsageError);
  EXPECT_THROW((void)layout_map("R", {0, 8}), UsageError);
  EXPECT_THROW((void)layout_map("R", {1 << 20, 2}), UsageError);
  EXPECT_THROW((void)layout_map("R_1048576_1048576_R", {1, 1}), UsageError);
}

std::vector<std::int64_t> lines_of(const std::string& lhs, const std::string& rhs) {
  ProductAccess access;
  access.lhs = lhs;
  access.rhs = rhs;
  const FetchedLines lines = fetched_lines(access);
  return {lines.lhs.lines, lines.lhs.every, lines.rhs.lines, lines.rhs.every};
}

/// Work-groups of 4 x 16, 2 x 2 results each, four elements of k a step, lines of 64 bytes.
TEST(FetchedLinesOfAProduct, AreThoseOfR17sTable) {
  EXPECT_THAT(lines_of("R", "C"), testing::ElementsAre(8, 4, 32, 4));
  EXPECT_THAT(lines_of("R_2_4_R", "C_4_2_C"), testing::ElementsAre(4, 2, 16, 2));
  EXPECT_THAT(lines_of("R_4_4_R", "C_4_4_C"), testing::ElementsAre(2, 1, 8, 1));
}

TEST(FetchedLinesOfAProduct, OfRowsAlongK) {
  // Each step reads four rows of 32 floats of rhs, two lines each, and a quarter of lhs' lines.
  EXPECT_THAT(lines_of("R", "R"), testing::ElementsAre(8, 4, 8, 1));
}

TEST(FetchedLinesOfAProduct, RefuseImpossibleSizes) {
  ProductAccess access;
  access.lhs = access.rhs = "R";
  access.group = {0, 16};
  EXPECT_THROW((void)fetched_lines(access), UsageError);
  access.group = {4, 16};
  access.line_bytes = 1 << 13;
  EXPECT_THROW((void)fetched_lines(access), UsageError);
  access.line_bytes = 64;
  access.group = {64, 64};
  access.patch = {64, 64};
  access.step = 4096;
  EXPECT_THROW((void)fetched_lines(access), UsageError);
  access.group = {4, 16};
  access.patch = {2, 2};
  access.step = 4;
  access.lhs = "NCHW";
  EXPECT_THROW((void)fetched_lines(access), UsageError);
}

}  // namespace
}  // namespace morton::test
