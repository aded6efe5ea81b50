// SPDX-License-Identifier: Apache-2.0
//
// Signatures (Ed25519) behind bytes, and files of keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <string>

#include "base/files/signature.hpp"
#include "host/formats_files.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

/// Two pairs of keys in files. A build without libsodium has none.
class Signatures : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      for (const char* name : {"one", "other"}) {
        const KeyPair pair = new_key_pair();
        write_bytes(secret(name), pair.secret_line);
        ::chmod(secret(name).c_str(), 0600);
        write_bytes(open(name), pair.public_line);
      }
    } catch (const UnsupportedError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  [[nodiscard]] std::filesystem::path secret(const std::string& name) const {
    return folder_ / (name + ".key");
  }
  [[nodiscard]] std::filesystem::path open(const std::string& name) const {
    return folder_ / (name + ".pub");
  }
  [[nodiscard]] std::string signed_by(const std::string& name, const std::string& bytes) const {
    const std::string_view body = bytes;
    return bytes + signature_of(std::span(&body, 1), secret(name));
  }
  [[nodiscard]] std::string refusal(const std::string& bytes, const std::string& name) const {
    return message_of<ModelError>([&] { (void)require_signature(bytes, open(name), "it"); });
  }

  TemporaryFolder folder_;
  const std::string bytes_ = "what is signed";
};

TEST_F(Signatures, OfTheRightKeyAreGood) {
  const std::string whole = signed_by("one", bytes_);
  EXPECT_EQ(require_signature(whole, open("one"), "it") + "\n", bytes_of_file(open("one")));
  EXPECT_EQ(without_signature(whole), bytes_);
  EXPECT_EQ(without_signature(bytes_), bytes_);
  EXPECT_NO_THROW((void)require_signature(signed_by("one", ""), open("one"), "it"));
  // In parts, as files are written.
  const std::array<std::string_view, 3> parts{"what ", "", "is signed"};
  EXPECT_EQ(bytes_ + signature_of(parts, secret("one")), whole);
}

TEST_F(Signatures, ShowEveryFlippedBit) {
  const std::string whole = signed_by("one", bytes_);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_THROW((void)require_signature(damaged, open("one"), "it"), ModelError) << bit;
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW((void)require_signature(whole.substr(0, size), open("one"), "it"), ModelError);
  }
  EXPECT_THROW((void)require_signature(whole + "x", open("one"), "it"), ModelError);
}

TEST_F(Signatures, OfOtherKeysAndNoneAreRefused) {
  EXPECT_THAT(refusal(bytes_, "one"), HasSubstr("is not signed"));
  EXPECT_THAT(refusal(signed_by("other", bytes_), "one"), HasSubstr("is signed by the key"));
  std::string changed = signed_by("one", bytes_);
  changed[0] = 'W';
  EXPECT_THAT(refusal(changed, "one"), HasSubstr("was changed after it was signed"));
  // Who may choose: one of several keys, and lines for people.
  write_bytes(open("both"),
              "# the fleet's\n\n" + bytes_of_file(open("other")) + bytes_of_file(open("one")));
  EXPECT_NO_THROW((void)require_signature(signed_by("one", bytes_), open("both"), "it"));
}

TEST_F(Signatures, NeedFilesOfKeys) {
  const auto said = [&](const std::string& text) {
    write_bytes(open("bad"), text);
    return message_of<UsageError>(
        [&] { (void)require_signature(signed_by("one", bytes_), open("bad"), "it"); });
  };
  EXPECT_THAT(said(""), HasSubstr("holds no public key"));
  EXPECT_THAT(said("morton public key 1 00ff\n"), HasSubstr("is no public key"));
  EXPECT_THAT(said(bytes_of_file(secret("one"))), HasSubstr("is no public key"));
  const auto signing = [&](const char* name) {
    return message_of<UsageError>([&] { (void)signed_by(name, bytes_); });
  };
  EXPECT_THAT(signing("none"), HasSubstr("none.key"));
  write_bytes(secret("bad"), bytes_of_file(open("one")));
  ::chmod(secret("bad").c_str(), 0600);
  EXPECT_THAT(signing("bad"), HasSubstr("holds no secret key"));
  ::chmod(secret("one").c_str(), 0640);
  EXPECT_THAT(signing("one"), HasSubstr("others may read this secret key"));
}

}  // namespace
}  // namespace morton::test
