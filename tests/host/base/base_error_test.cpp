// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace morton::test {
namespace {

using ::testing::IsEmpty;

std::string shouted(const NamedSetting& setting) {
  return "<" + setting.name + "|" + setting.value + ">";
}

TEST(Message, PrintsSettingsAsTheApiNamesThem) {
  const Message text = setting("exclude", "gemm.x") + ": give " + setting("cache_dir") + " too";
  EXPECT_EQ(text.print(), "exclude gemm.x: give cache_dir too");
  EXPECT_EQ(text.print(shouted), "<exclude|gemm.x>: give <cache_dir|> too");
  ASSERT_EQ(text.settings().size(), 2U);
  EXPECT_EQ(text.settings()[0].value, "gemm.x");
  EXPECT_EQ(text.settings()[1].name, "cache_dir");
}

TEST(Message, IsEmptyWithoutWords) {
  EXPECT_TRUE(Message().empty());
  EXPECT_TRUE(Message("").empty());
  EXPECT_FALSE(setting("use").empty());
}

TEST(Message, JoinsWordsThatFollowEachOther) {
  Message text = "a";
  text += "b";
  EXPECT_EQ(text.pieces.size(), 1U);
  EXPECT_EQ(text + "", text);
  EXPECT_NE(text, Message(setting("ab")));
}

TEST(Message, TakesItselfAtItsEnd) {
  Message text = "a" + setting("use");
  text += text;
  EXPECT_EQ(text.print(), "auseause");
}

TEST(ErrorFields, TellTheSettingAtFault) {
  const UsageError error(setting("batch", "-1") + ": give " + setting("shapes"));
  EXPECT_STREQ(error.what(), "batch -1: give shapes");
  EXPECT_EQ(error.setting(), "batch");
  EXPECT_THAT(UsageError("words alone").setting(), IsEmpty());
}

TEST(ErrorFields, WordsThatLookLikeASettingAreNone) {
  EXPECT_THAT(UsageError("batch: a word").setting(), IsEmpty());
}

TEST(ErrorFields, KeepTheFirstNodeAndTheText) {
  ModelError error("Conv 'c': wrong");
  EXPECT_THAT(error.node(), IsEmpty());
  error.put_down_to("c");
  const ModelError copy = error;
  error.put_down_to("d");
  EXPECT_EQ(error.node(), "c");
  EXPECT_EQ(copy.node(), "c");
  EXPECT_STREQ(copy.what(), "Conv 'c': wrong");
}

TEST(ErrorFields, ListWhatWasRejected) {
  UnsupportedError error("no kernel");
  error.put_down_to("c");
  error.set_rejected({{"gemm.x", "it is excluded"}});
  ASSERT_EQ(error.rejected().size(), 1U);
  EXPECT_EQ(error.rejected()[0].why, "it is excluded");
  EXPECT_EQ(error.node(), "c");
}

TEST(ErrorFields, StayWhereTheTypeIsKeptInABase) {
  try {
    try {
      throw UnsupportedError(setting("use", "gemm=x") + ": no");
    } catch (Error& error) {
      error.put_down_to("n");
      throw;
    }
  } catch (const UnsupportedError& error) {
    EXPECT_EQ(error.node(), "n");
    EXPECT_EQ(error.setting(), "use");
  }
}

}  // namespace
}  // namespace morton::test
