// SPDX-License-Identifier: Apache-2.0
#include "device/open/cache_limit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

class CacheLimitTest : public ::testing::Test {
 protected:
  /// A program of 100 bytes that was used `minutes` ago.
  void keep(const std::string& key, int minutes) const {
    const auto file = folder_.path() / (key + ".bin");
    std::ofstream(file) << std::string(100, 'x');
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }
  [[nodiscard]] bool has(const std::string& key) const {
    return std::filesystem::exists(folder_.path() / (key + ".bin"));
  }
  TemporaryFolder folder_;
};

TEST_F(CacheLimitTest, TheLeastRecentlyUsedGoFirst) {
  keep("old", 30);
  keep("older", 40);
  keep("new", 20);
  EXPECT_EQ(keep_within(folder_.path(), 300, {}), 0);
  EXPECT_EQ(keep_within(folder_.path(), 299, {}), 1);
  EXPECT_FALSE(has("older"));
  mark_used(folder_.path() / "old.bin");
  EXPECT_EQ(keep_within(folder_.path(), 100, {}), 1);
  EXPECT_TRUE(has("old"));
  EXPECT_FALSE(has("new"));
}

TEST_F(CacheLimitTest, WhatIsInUseStays) {
  keep("held", 30);
  keep("idle", 20);
  keep("awaited", 0);
  std::ofstream(folder_.path() / "notes.txt") << "somebody's";
  EXPECT_EQ(keep_within(folder_.path(), 0, {"held"}), 1);
  EXPECT_TRUE(has("held"));
  EXPECT_TRUE(has("awaited"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "notes.txt"));
  EXPECT_EQ(keep_within(folder_.path() / "none", 0, {}), 0);
}

}  // namespace
}  // namespace morton::test
