// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.hpp"
#include "base/files/folder.hpp"
#include "base/files/json_reader.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLimit = 1000;

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "morton_file_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(File, ReadsWhatItWrote) {
  const std::string bytes("a\0b\n", 4);
  write_file_atomically(folder_ / "sub" / "x", bytes);
  EXPECT_EQ(read_file(folder_ / "sub" / "x", kLimit), bytes);
  write_file_atomically(folder_ / "sub" / "x", "");
  EXPECT_EQ(read_file(folder_ / "sub" / "x", kLimit), "");
  // Nothing but the file is left in the folder.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "sub"), fs::directory_iterator()), 1);
}

TEST_F(File, RefusesWhatItCannotRead) {
  EXPECT_THROW((void)read_file(folder_ / "absent", kLimit), ModelError);
  EXPECT_THROW((void)read_file(folder_, kLimit), ModelError);
  write_file_atomically(folder_ / "long", std::string(kLimit + 1, 'x'));
  EXPECT_THROW((void)read_file(folder_ / "long", kLimit), ModelError);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW((void)read_file(folder_ / "pipe", kLimit), ModelError) << "and does not hang";
}

TEST_F(File, LeavesTheOldFileWhenItCannotWrite) {
  write_file_atomically(folder_ / "x", "old");
  fs::create_directory(folder_ / "taken");
  EXPECT_THROW(write_file_atomically(folder_ / "taken", "new"), UsageError);
  EXPECT_THROW(write_file_atomically(folder_ / "x" / "y", "new"), UsageError);
  EXPECT_EQ(read_file(folder_ / "x", kLimit), "old");
}

TEST_F(File, RemovesWhatAKillHasLeft) {
  write_file_atomically(folder_ / "x", "whole");
  const std::vector<std::string> others{"x.backup", "x.unfinished-", "x.unfinished-1234567",
                                        "y.unfinished-123456", "ax.unfinished-123456"};
  for (const std::string& name : others) write_file_atomically(folder_ / name, "");
  write_file_atomically(folder_ / "x.unfinished-a1B2c3", "half");
  remove_unfinished(folder_ / "x");
  EXPECT_FALSE(fs::exists(folder_ / "x.unfinished-a1B2c3"));
  EXPECT_TRUE(fs::exists(folder_ / "x"));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  remove_unfinished(folder_ / "absent" / "x");
}

/// The file in the making has the name that is removed after a kill.
TEST_F(File, AKillLeavesAnUnfinishedFile) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("MORTON_SLOW_WRITES", "10000", 1);
    write_file_atomically(folder_ / "x", "new");
    ::_exit(0);
  }
  while (fs::is_empty(folder_)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::is_empty(folder_));
  remove_unfinished(folder_ / "x");
  EXPECT_TRUE(fs::is_empty(folder_));
}

/// Two programs may write one file: the one that cleans up leaves the other's.
TEST_F(File, AFileThatIsBeingWrittenStays) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("MORTON_SLOW_WRITES", "20", 1);
    write_file_atomically(folder_ / "x", "new");
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) remove_unfinished(folder_ / "x");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(folder_ / "x", kLimit), "new");
}

TEST_F(File, ListsAFolder) {
  for (const char* name : {".hidden", "a", "b"}) write_file_atomically(folder_ / name, "x");
  fs::create_directory(folder_ / "c");
  std::error_code status;
  std::vector<fs::path> found = entries_of(folder_, status);
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<fs::path>{folder_ / ".hidden", folder_ / "a", folder_ / "b",
                                          folder_ / "c"}));
  EXPECT_FALSE(status);
  EXPECT_TRUE(entries_of(folder_ / "absent", status).empty());
  EXPECT_EQ(status, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(entries_of(folder_ / "a", status).empty());
  EXPECT_EQ(status, std::errc::not_a_directory);
}

TEST_F(File, FlushesFoldersWhereThatExists) {
  flush_folder(folder_);
  flush_folder("/proc");
}

TEST(Digest, TellsBytesApart) {
  EXPECT_EQ(digest_of("abc").size(), 32U);
  EXPECT_EQ(digest_of("abc"), digest_of("abc"));
  EXPECT_NE(digest_of("abc"), digest_of("abd"));
  EXPECT_NE(digest_of(""), digest_of(std::string_view("\0", 1)));
}

/// The message of the ModelError that reading gives; empty when it gives none.
template <typename Read>
std::string error_of(const std::string& text, const Read& read) {
  try {
    const Json json = parse_json(text, "f.json");
    read(JsonReader(json, "f.json"));
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(JsonReader, ReadsValues) {
  const Json json = parse_json(R"({"a": {"b": [1, 2]}, "t": "x", "r": 0.5, "y": true})", "f.json");
  const JsonReader reader(json, "f.json");
  reader.allow_keys({"a", "t", "r", "y"});
  EXPECT_EQ(reader.at("a").at("b").integers(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(reader.at("t").text(), "x");
  EXPECT_EQ(reader.at("r").real(), 0.5);
  EXPECT_TRUE(reader.at("y").boolean());
  EXPECT_FALSE(reader.has("b"));
  EXPECT_EQ(reader.members().size(), 4U);
  EXPECT_EQ(reader.at("a").at("b").where(), "f.json: a.b");
}

TEST(JsonReader, SaysWhereAndWhatIsWrong) {
  const auto reads = [](const char* what) {
    return [what](const JsonReader& reader) { (void)reader.at(what).integer(); };
  };
  EXPECT_NE(error_of(R"({"a": "x"})", reads("a")).find("f.json: a: expected an integer"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"a": 1.5})", reads("a")), "");
  EXPECT_NE(error_of(R"({"a": 18446744073709551615})", reads("a")), "");
  EXPECT_NE(error_of(R"({"a": 1})", reads("b")).find("'b' is missing"), std::string::npos);
  EXPECT_NE(error_of(R"([1])", reads("b")), "");
  EXPECT_NE(
      error_of(R"({"a": 1, "z": 2})", [](const JsonReader& reader) { reader.allow_keys({"a"}); })
          .find("unknown key 'z'"),
      std::string::npos);
}

TEST(JsonReader, RefusesBadText) {
  const auto nothing = [](const JsonReader&) {};
  EXPECT_NE(error_of("{", nothing), "");
  EXPECT_NE(error_of("", nothing), "");
  EXPECT_NE(error_of("{} x", nothing), "");
  EXPECT_NE(error_of(R"({"a": 1, "a": 2})", nothing).find("stands twice"), std::string::npos);
  EXPECT_EQ(error_of(R"({"a": {"b": 1}, "b": {"b": 1}})", nothing), "");
  EXPECT_NE(error_of(std::string(100, '[') + std::string(100, ']'), nothing), "");
  EXPECT_NE(error_of(std::string(50000, '['), nothing), "");
  EXPECT_NE(error_of("\"\xff\"", nothing), "");
}

}  // namespace
}  // namespace morton::test
