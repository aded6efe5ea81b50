// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/text/text_diff.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

TEST(TextDiff, EqualTextsGiveNothing) {
  EXPECT_EQ(text_diff("", "", 2), "");
  EXPECT_EQ(text_diff("a\nb\n", "a\nb\n", 2), "");
}

TEST(TextDiff, ShowsWhatCameAndWent) {
  EXPECT_EQ(text_diff("a\nb\nc\n", "a\nx\nc\n", 1), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  EXPECT_EQ(text_diff("", "a\n", 1), "@@ -0,0 +1,1 @@\n+a\n");
  EXPECT_EQ(text_diff("a\nb\n", "b\n", 0), "@@ -1,1 +0,0 @@\n-a\n");
}

TEST(TextDiff, ChangesFarApartAreParts) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const std::string after = "1\nx\n3\n4\n5\n6\n7\n8\n";
  EXPECT_EQ(text_diff(before, after, 1),
            "@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n@@ -8,2 +8,1 @@\n 8\n-9\n");
  EXPECT_EQ(text_diff(before, after, 3).find("@@ -1,9 +1,8 @@"), 0U);
}

TEST(TextDiff, KeepsTheLongestCommonPart) {
  EXPECT_EQ(text_diff("a\nb\nc\nd\n", "b\nd\na\nc\nd\n", 0),
            "@@ -1,1 +0,0 @@\n-a\n@@ -2,0 +2,2 @@\n+d\n+a\n");
}

}  // namespace
}  // namespace morton::test
