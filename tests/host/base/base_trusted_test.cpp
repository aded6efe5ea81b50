// SPDX-License-Identifier: Apache-2.0
//
// Which files and folders are believed: by their owners, their modes, and what they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files/trusted.hpp"
#include "host/formats_files.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kSomebody = 65534;

mode_t mode_of(const fs::path& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 0777 : 0;
}

std::string distrust(const fs::path& path) { return why_not_trusted(path).value_or(""); }
std::string cache_distrust(const fs::path& path) {
  return why_cache_not_trusted(path).value_or("");
}

/// A cache folder as Morton makes it, whatever the user's mask.
class Trusted : public ::testing::Test {
 protected:
  void SetUp() override {
    const mode_t mask = ::umask(0);
    for (const char* name : {"programs/p.bin", "tuning/t.json"}) {
      write_trusted_file(cache_ / name, "bytes");
    }
    ::umask(mask);
  }

  TemporaryFolder folder_;
  fs::path cache_ = folder_ / "above/cache";
};

TEST_F(Trusted, IsWhatMortonWrites) {
  for (const fs::path& folder :
       {cache_.parent_path(), cache_, cache_ / "programs", cache_ / "tuning"}) {
    EXPECT_EQ(mode_of(folder), 0700U) << folder;
  }
  EXPECT_EQ(mode_of(cache_ / "tuning/t.json"), 0600U);
  EXPECT_EQ(cache_distrust(cache_), "");
  EXPECT_EQ(cache_distrust(folder_ / "none"), "");
}

TEST_F(Trusted, IsNothingThatOthersMayWrite) {
  for (const char* name : {"", "programs", "tuning", "tuning/t.json"}) {
    const fs::path path = cache_ / name;
    for (const mode_t mode : {0720, 0702, 01777}) {
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      EXPECT_THAT(cache_distrust(cache_), HasSubstr("others may write it")) << path << mode;
    }
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    EXPECT_EQ(cache_distrust(cache_), "") << path;
  }
  ASSERT_EQ(::chmod(cache_.c_str(), 0777), 0);
  EXPECT_THROW(make_trusted_folder(cache_), ModelError);
  EXPECT_THAT(why_not_kept_in(cache_), HasSubstr("others may write it"));
}

TEST_F(Trusted, IsNothingOfAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (const char* name : {"", "programs", "tuning", "tuning/t.json"}) {
    const fs::path path = cache_ / name;
    ASSERT_EQ(::lchown(path.c_str(), kSomebody, kSomebody), 0);
    EXPECT_THAT(cache_distrust(cache_), HasSubstr("belongs to user 65534")) << path;
    ASSERT_EQ(::lchown(path.c_str(), 0, 0), 0);
  }
}

/// What root has made is believed by all: an image's cache that was filled before.
TEST_F(Trusted, IsWhatIsRoots) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  for (const char* name : {"..", ".", "programs", "tuning"}) {
    ASSERT_EQ(::chmod((cache_ / name).c_str(), 0755), 0);
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::seteuid(kSomebody), 0);
  const std::string of_roots = cache_distrust(cache_);
  const std::string kept = why_not_kept_in(cache_ / "programs");
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(of_roots, "");
  EXPECT_THAT(kept, HasSubstr("cannot be written"));
}

TEST_F(Trusted, MayBeAFolderBehindALinkOfTheSameUser) {
  fs::create_directory_symlink(cache_, folder_ / "link");
  EXPECT_EQ(cache_distrust(folder_ / "link"), "");
  // Not its folders, nor its files.
  fs::rename(cache_ / "programs", folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", cache_ / "programs");
  EXPECT_THAT(cache_distrust(cache_), HasSubstr("neither a file nor a folder"));
  EXPECT_THAT(distrust(folder_ / "link"), HasSubstr("neither a file nor a folder"));
  if (::geteuid() != 0) return;
  fs::remove(cache_ / "programs");
  ASSERT_EQ(::lchown((folder_ / "link").c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(cache_distrust(folder_ / "link"), HasSubstr("belongs to user 65534"));
}

TEST_F(Trusted, IsNoFileInPlaceOfAFolder) {
  write_bytes(folder_ / "file", "x");
  EXPECT_THAT(cache_distrust(folder_ / "file"), HasSubstr("is no folder"));
}

}  // namespace
}  // namespace morton::test
