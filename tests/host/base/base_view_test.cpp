// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "base/algebra/view.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

Expression name(const char* text) { return Expression::variable(text); }

std::vector<std::int64_t> at(const View& view, const Environment& environment) {
  std::vector<std::int64_t> result;
  for (const auto& coordinate : view.coordinates)
    result.push_back(coordinate.evaluate(environment));
  return result;
}

TEST(View, IdentityMapsEachDimensionToItself) {
  const View view = View::identity({"N", "OH"});
  EXPECT_EQ(view.print(), "(n, oh) -> [n, oh]");
  ASSERT_TRUE(view.grouping.has_value());
  EXPECT_EQ(*view.grouping, (Grouping{{0}, {1}}));
}

TEST(View, GroupsJoinDimensions) {
  // M = N * OH * OW of a tensor N x C x OH x OW.
  const View view =
      View::grouped({"M", "C"}, {{0, 2, 3}, {1}}, {name("N"), name("C"), name("OH"), name("OW")});
  const Environment environment{{"N", 2}, {"C", 3}, {"OH", 5}, {"OW", 7}, {"m", 1 * 35 + 4 * 7 + 6},
                                {"c", 2}};
  EXPECT_EQ(at(view, environment), (std::vector<std::int64_t>{1, 2, 4, 6}));
}

TEST(View, TransposeIsAGrouping) {
  const View view = View::grouped({"M", "K"}, {{1}, {0}}, {name("K"), name("M")});
  EXPECT_EQ(view.print(), "(m, k) -> [k, m]");
}

TEST(View, AGroupOfNoDimensionsReadsAScalar) {
  const View view = View::grouped({"D0"}, {{}}, {});
  EXPECT_TRUE(view.coordinates.empty());
  EXPECT_TRUE(view.grouping.has_value());
}

TEST(View, RefusesAWrongNumberOfGroups) {
  EXPECT_THROW((void)View::grouped({"M", "K"}, {{0, 1}}, {name("M"), name("K")}), InternalError);
}

TEST(View, MappedFindsItsGrouping) {
  const std::vector<Expression> extents{name("N"), name("C")};
  const View found = View::mapped({"M"}, {name("m") / name("C"), name("m") % name("C")}, extents);
  ASSERT_TRUE(found.grouping.has_value());
  EXPECT_EQ(*found.grouping, (Grouping{{0, 1}}));
  EXPECT_FALSE(View::mapped({"M"}, {name("m"), name("m")}, extents).grouping.has_value());
  EXPECT_FALSE(
      View::mapped({"A", "B"}, {name("a") + name("b"), name("b")}, extents).grouping.has_value());
  EXPECT_FALSE(View::mapped({"A", "B"}, {Expression(0), name("b")}, extents).grouping.has_value());
}

/// im2col: the right operand of the product that a convolution is, rows K = C * KH * KW, columns
/// N = N * OH * OW, reads the image through this view.
TEST(View, ComposesIm2col) {
  const View image = View::identity({"N", "C", "H", "W"});
  const auto k = name("k");
  const auto n = name("n");
  const auto oh = n / name("OW") % name("OH");
  const auto ow = n % name("OW");
  const std::vector<Expression> inner{
      n / (name("OH") * name("OW")),
      k / (name("KH") * name("KW")),
      oh * name("SH") + k / name("KW") % name("KH") * name("DH") - name("PT"),
      ow * name("SW") + k % name("KW") * name("DW") - name("PL"),
  };
  const View view = image.compose({"K", "N"}, inner, {{"N", name("images")}});
  EXPECT_FALSE(view.grouping.has_value());
  EXPECT_EQ(view.extents[0].print(), "images");

  Environment environment{{"OH", 3}, {"OW", 5}, {"KH", 3}, {"KW", 2}, {"SH", 2},
                          {"SW", 1}, {"DH", 1}, {"DW", 3}, {"PT", 1}, {"PL", 2}};
  int row = 0;
  for (int c = 0; c < 2; ++c) {
    for (int kh = 0; kh < 3; ++kh) {
      for (int kw = 0; kw < 2; ++kw, ++row) {
        int column = 0;
        for (int image_index = 0; image_index < 2; ++image_index) {
          for (int h = 0; h < 3; ++h) {
            for (int w = 0; w < 5; ++w, ++column) {
              environment["k"] = row;
              environment["n"] = column;
              const std::vector<std::int64_t> expected{image_index, c, h * 2 + kh - 1,
                                                       w + kw * 3 - 2};
              ASSERT_EQ(at(view, environment), expected) << row << ", " << column;
            }
          }
        }
      }
    }
  }
}

/// Rows and columns of padding behind a tensor alone: the coordinates are the tensor's own.
TEST(View, WhatMayLeaveTheTensorIsNoGrouping) {
  View padded = View::identity({"H", "W"});
  padded.grouping.reset();
  padded.bounded = true;
  padded.outside = 3.0;
  const View view = padded.compose({"A", "B"}, {name("a"), name("b")}, {});
  EXPECT_FALSE(view.grouping.has_value());
  EXPECT_TRUE(view.bounded);
  EXPECT_EQ(view.outside, 3.0);
}

TEST(View, RefusesAWrongNumberOfInnerCoordinates) {
  EXPECT_THROW((void)View::identity({"M", "K"}).compose({"M"}, {name("m")}, {}), ModelError);
}

}  // namespace
}  // namespace morton::test
