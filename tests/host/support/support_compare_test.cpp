// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr double kCompareNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Compare, AcceptsWhatLiesWithinTheTolerance) {
  EXPECT_TRUE(matches(1.0, 0.0, 1.0));
  EXPECT_TRUE(matches(1.0, 0.25, 1.25));
  EXPECT_TRUE(matches(-1.0, 0.25, -1.25));
  EXPECT_FALSE(matches(1.0, 0.25, 1.2500001));
  EXPECT_FALSE(matches(1.0, 0.0, 1.0000001));
}

TEST(Compare, FailsOnNan) {
  EXPECT_FALSE(matches(1.0, 1e9, kCompareNan));
  EXPECT_FALSE(matches(1.0, kCompareNan, 1.0));
  EXPECT_FALSE(matches(kCompareNan, 1.0, 1.0));
  EXPECT_TRUE(matches(kCompareNan, kCompareNan, kCompareNan));
}

TEST(Compare, TakesNoInfinityForAnything) {
  EXPECT_FALSE(matches(1.0, kInfinity, 1.0));
  EXPECT_FALSE(matches(1.0, 1.0, kInfinity));
  EXPECT_FALSE(matches(kInfinity, 1.0, -kInfinity));
  EXPECT_FALSE(matches(kInfinity, kInfinity, 1.0));
  EXPECT_TRUE(matches(kInfinity, kCompareNan, kInfinity));
}

TEST(Compare, CountsAndShowsWhatIsWrong) {
  const ReferenceTensor expected{{3}, {1.0, 2.0, 3.0}, {0.1, 0.1, 0.1}};
  const Comparison good = compare(expected, std::vector<float>{1.0F, 2.05F, 3.0F});
  EXPECT_TRUE(good.ok()) << good.text;
  EXPECT_NEAR(good.worst, 0.5, 1e-5);
  const Comparison bad = compare(expected, std::vector<float>{1.0F, 2.5F, 3.0F});
  EXPECT_EQ(bad.wrong, 1);
  EXPECT_FALSE(bad.ok());
  EXPECT_NE(bad.text.find("element 1 of 3"), std::string::npos) << bad.text;
  EXPECT_TRUE(compare(expected, std::vector<float>{1.0F, 2.5F, 3.0F}, 8.0).ok());
  EXPECT_FALSE(compare_exactly(expected, std::vector<float>{1.0F, 2.05F, 3.0F}).ok());
  EXPECT_TRUE(compare_exactly(expected, std::vector<float>{1.0F, 2.0F, 3.0F}).ok());
}

TEST(Compare, FailsOnAWrongNumberOfElements) {
  const ReferenceTensor expected{{2}, {1.0, 2.0}, {0.1, 0.1}};
  EXPECT_FALSE(compare(expected, std::vector<float>{1.0F}).ok());
  EXPECT_FALSE(compare(expected, std::vector<float>{}).ok());
  EXPECT_FALSE(compare(expected, std::vector<float>{1.0F, 2.0F, 3.0F}).ok());
}

}  // namespace
}  // namespace morton::test
