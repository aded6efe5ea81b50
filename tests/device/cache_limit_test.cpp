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
  /// A file of 100 bytes, by its name below the folder, that was used `minutes` ago.
  void keep(const std::string& name, int minutes) const {
    const auto file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << std::string(100, 'x');
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }
  TemporaryFolder folder_;
};

TEST_F(CacheLimitTest, TheLeastRecentlyUsedGoFirst) {
  keep("programs/old.bin", 30);
  keep("plans/older.plan", 40);
  keep("programs/new.bin", 20);
  EXPECT_EQ(keep_within(folder_.path(), 300, {}), 0);
  EXPECT_EQ(keep_within(folder_.path(), 299, {}), 1);
  EXPECT_FALSE(has("plans/older.plan"));
  mark_used(folder_.path() / "programs/old.bin");
  EXPECT_EQ(keep_within(folder_.path(), 100, {}), 1);
  EXPECT_TRUE(has("programs/old.bin"));
  EXPECT_FALSE(has("programs/new.bin"));
}

TEST_F(CacheLimitTest, WhatIsInUseStays) {
  keep("programs/held.bin", 30);
  keep("plans/idle.tensors", 20);
  keep("programs/awaited.bin", 0);
  keep("programs/notes.txt", 60);
  EXPECT_EQ(keep_within(folder_.path(), 0, {"held"}), 1);
  EXPECT_TRUE(has("programs/held.bin"));
  EXPECT_TRUE(has("programs/awaited.bin"));
  EXPECT_TRUE(has("programs/notes.txt"));
  EXPECT_EQ(keep_within(folder_.path() / "none", 0, {}), 0);
}

}  // namespace
}  // namespace morton::test
