// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <string>

#include "base/error.hpp"
#include "base/files/trusted.hpp"
#include "device/open/program_file.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

ProgramFile example() {
  return {digest_of("key"), digest_of("owner"), {"add", "mul2"}, std::string("\0\n\xff bin", 7)};
}

TEST(DeviceProgramFile, ComesBackAsItWas) {
  const ProgramFile file = decode_program_file(encode(example()), "x.bin");
  EXPECT_EQ(file.key, example().key);
  EXPECT_EQ(file.owner, example().owner);
  EXPECT_EQ(file.kernels, example().kernels);
  EXPECT_EQ(file.binary, example().binary);
}

TEST(DeviceProgramFile, RefusesEveryTruncation) {
  const std::string whole = encode(example());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW((void)decode_program_file(whole.substr(0, size), "x.bin"), ModelError) << size;
  }
  EXPECT_THROW((void)decode_program_file(whole + "x", "x.bin"), ModelError);
}

TEST(DeviceProgramFile, RefusesEveryFlippedBit) {
  const std::string whole = encode(example());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_THROW((void)decode_program_file(damaged, "x.bin"), ModelError) << at << "." << bit;
    }
  }
}

TEST(DeviceProgramFile, RefusesABinaryOfPoclWithoutItsCode) {
  ProgramFile file = example();
  file.binary = std::string("poclbin\0 /program.bc code /peak/0-0-0/peak.so", 46);
  EXPECT_EQ(decode_program_file(encode(file), "x.bin").binary, file.binary);
  file.binary = std::string("poclbin\0 /peak/0-0-0/peak.so", 29);
  EXPECT_THROW((void)decode_program_file(encode(file), "x.bin"), ModelError);
}

TEST(DeviceProgramFile, RefusesRandomBytes) {
  constexpr unsigned kSeed = 63;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_THROW((void)decode_program_file(bytes, "x.bin"), ModelError)
        << "seed " << kSeed << ", round " << round;
  }
}

TEST(DeviceProgramFile, BelievesOnlyItsOwnFiles) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "programs" / "x.bin";
  EXPECT_TRUE(why_not_trusted(path).has_value());
  const mode_t mask = ::umask(0);
  write_trusted_file(path, "bytes");
  ::umask(mask);
  EXPECT_EQ(why_not_trusted(path).value_or(""), "");
  EXPECT_EQ(why_not_trusted(path.parent_path()).value_or(""), "");
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_NE(why_not_trusted(path).value_or("").find("others may write"), std::string::npos);
  }
  std::filesystem::create_symlink(path, folder.path() / "link");
  EXPECT_TRUE(why_not_trusted(folder.path() / "link").has_value());
  ASSERT_EQ(::chmod(path.parent_path().c_str(), 0777), 0);
  EXPECT_THROW(write_trusted_file(path, "bytes"), ModelError);
}

}  // namespace
}  // namespace morton::test
