// SPDX-License-Identifier: Apache-2.0
//
// What the program believes of files: signatures and modes of compiled ones, owners and modes of
// cache folders, folders of weights, and limits of loading.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 65534;

/// A product, compiled once for all tests, with two pairs of keys.
class CliSecurity : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder();
    onnx::ModelProto model = model_with_input({3, 17});
    add_node(model, "Relu", {"x"}, "y");
    static_cast<void>(save(model, path("net.onnx")));
    const Outcome keys = run_program({"keys", path("fleet")});
    has_signatures_ = keys.out.find("wrote") != std::string::npos;
    if (has_signatures_) expect_success(run_program({"keys", path("other")}));
    expect_success(run_program({"compile", path("net.onnx"), "-o", path("net.morton")}));
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*folder_ / name).string(); }
  static Outcome bench(const std::string& name, const std::vector<std::string>& more = {},
                       const std::map<std::string, std::string>& variables = {}) {
    std::vector<std::string> words{"bench", path(name), "-n", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, variables);
  }

  static TemporaryFolder* folder_;
  static bool has_signatures_;
};

TemporaryFolder* CliSecurity::folder_ = nullptr;
bool CliSecurity::has_signatures_ = false;

TEST_F(CliSecurity, CompiledFilesThatOthersMayWriteAreRefused) {
  struct stat facts {};
  ASSERT_EQ(::stat(path("net.morton").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0022, 0U);
  for (const mode_t mode : {0664, 0646}) {
    fs::copy_file(path("net.morton"), path("open.morton"), fs::copy_options::overwrite_existing);
    ASSERT_EQ(::chmod(path("open.morton").c_str(), mode), 0);
    expect_error(bench("open.morton"), kBadFile, "--accept-writable");
    expect_success(bench("open.morton", {"--accept-writable"}));
  }
}

TEST_F(CliSecurity, SignaturesAreVerifiedWhereTheyAreAskedFor) {
  if (!has_signatures_) GTEST_SKIP() << "this build has no libsodium";
  expect_error(bench("net.morton", {"--verify", path("fleet.pub")}), kBadFile, "is not signed");
  expect_success(run_program(
      {"compile", path("net.onnx"), "-o", path("signed.morton"), "--sign", path("fleet.key")}));
  expect_success(bench("signed.morton"));
  expect_success(bench("signed.morton", {"--verify", path("fleet.pub")}));
  const std::map<std::string, std::string> fleet{{"MORTON_VERIFY_KEY", path("fleet.pub")}};
  expect_success(bench("signed.morton", {}, fleet));
  expect_error(bench("net.morton", {}, fleet), kBadFile, "is not signed");
  expect_error(bench("signed.morton", {"--verify", path("other.pub")}), kBadFile,
               "is signed by the key");
  expect_error(bench("signed.morton", {"--verify", path("none.pub")}), kUsage, "none.pub");
  expect_error(bench("net.onnx", {"--verify", path("fleet.pub")}), kUsage, "--verify");
  // A file is signed anew in place of the earlier signature.
  expect_success(run_program({"keys", path("other.key"), "--sign", path("signed.morton")}));
  expect_success(bench("signed.morton", {"--verify", path("other.pub")}));
  expect_error(bench("signed.morton", {"--verify", path("fleet.pub")}), kBadFile,
               "is signed by the key");
}

/// A forger makes the digests right, which are no secret.
TEST_F(CliSecurity, ForgedFilesAreRefusedBeforeTheDriverSeesThem) {
  if (!has_signatures_) GTEST_SKIP() << "this build has no libsodium";
  expect_success(run_program({"keys", path("fleet.key"), "--sign", path("net.morton")}));
  const std::string whole = read_bytes(path("net.morton"));
  for (std::size_t part = 1; part < 20; ++part) {
    std::string forged = whole;
    char& byte = forged[whole.size() * part / 20];
    byte = static_cast<char>(byte ^ 1);
    write_bytes(path("forged.morton"), forged);
    expect_error(bench("forged.morton", {"--verify", path("fleet.pub")}), kBadFile, "signature");
  }
}

TEST_F(CliSecurity, KeysAreSecretAndNotWrittenOver) {
  if (!has_signatures_) GTEST_SKIP() << "this build has no libsodium";
  struct stat facts {};
  ASSERT_EQ(::stat(path("fleet.key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  expect_error(run_program({"keys", path("fleet")}), kUsage, "is there already");
  ASSERT_EQ(::chmod(path("fleet.key").c_str(), 0644), 0);
  expect_error(run_program({"keys", path("fleet.key"), "--sign", path("net.morton")}), kUsage,
               "chmod go-rwx");
  ASSERT_EQ(::chmod(path("fleet.key").c_str(), 0600), 0);
  expect_error(run_program({"keys", path("fleet.key"), "--sign", path("net.onnx")}), kBadFile,
               "no whole compiled model");
}

/// Runs with this cache folder: the answer stays, one warning says why nothing is kept.
void expect_no_cache(const std::string& cache, const std::string& why) {
  const std::vector<std::string> words{"run", kLenet, "-i", kDigit, "--format", "json"};
  const Outcome refused = run_program(words, {{"MORTON_CACHE_DIR", cache}});
  EXPECT_EQ(refused.status, 0) << refused.text();
  const auto first = refused.err.find("nothing is read from the cache folder");
  EXPECT_NE(first, std::string::npos) << refused.text();
  EXPECT_EQ(refused.err.find("nothing is read", first + 1), std::string::npos) << refused.text();
  EXPECT_NE(refused.err.find(why), std::string::npos) << refused.text();
  EXPECT_NE(refused.err.find("--cache-dir"), std::string::npos) << refused.text();
  EXPECT_NE(refused.out.find("\"max\": 0.9995"), std::string::npos) << refused.text();
}

std::size_t files_in(const fs::path& folder) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files += entry.is_regular_file();
  return files;
}

TEST_F(CliSecurity, CacheFoldersThatOthersMayWriteAreLeftAlone) {
  const std::string cache = path("cache");
  fs::create_directory(cache);
  ASSERT_EQ(::chmod(cache.c_str(), 0777), 0);
  expect_no_cache(cache, "others may write it");
  EXPECT_EQ(files_in(cache), 0U);
  expect_error(run_program({"tune", path("net.onnx"), "--cache-dir", cache, "--time-budget", "1s"}),
               kUsage, "others may write it");
  ASSERT_EQ(::chmod(cache.c_str(), 0755), 0);
  // No process that goes on behind the answer, and would write there later.
  expect_success(run_program({"run", kLenet, "-i", kDigit},
                             {{"MORTON_CACHE_DIR", cache}, {"MORTON_BACKGROUND", "off"}}));
  EXPECT_GT(files_in(cache), 0U);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::lchown(cache.c_str(), kSomebody, kSomebody), 0);
  const std::size_t before = files_in(cache);
  expect_no_cache(cache, "belongs to user 65534");
  EXPECT_EQ(files_in(cache), before);
}

TEST_F(CliSecurity, LimitsOfLoadingAreOptions) {
  expect_error(run_program({"plan", kLenet, "--limit", "nodes=3"}), kBadFile,
               "--limit nodes=N allows more");
  expect_error(run_program({"inspect", kLenet, "--limit", "file=1KiB,nodes=100"}), kBadFile,
               "--limit file=N");
  expect_error(run_program({"plan", kLenet, "--limit", "elements=1000"}), kBadFile,
               "--limit elements=N");
  expect_error(run_program({"run", kLenet, "-i", kDigit, "--limit", "pixels=10"}), kBadFile,
               "--limit pixels=N");
  expect_error(run_program({"plan", kLenet, "--limit", "node=3"}), kUsage, "--limit node=3");
  expect_success(run_program({"inspect", kLenet, "--limit", "nodes=100", "--limit", "seconds=60"}));
}

TEST_F(CliSecurity, WeightsMayLieBehindLinksOfANamedFolder) {
  fs::create_directories(path("hub/snapshot"));
  write_bytes(path("hub/blob"), std::string(12, '\0'));
  fs::create_symlink("../blob", path("hub/snapshot/w.bin"));
  onnx::ModelProto model = model_with_input({2, 3});
  add_weights(model, "w", {3});
  add_node(model, "Add", {"x", "w"}, "y");
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  const std::string file = save(model, path("hub/snapshot/net.onnx"));
  expect_error(run_program({"inspect", file}), kBadFile, "--weights-folder");
  expect_success(run_program({"inspect", file, "--weights-folder", path("hub")}));
  expect_error(run_program({"inspect", file, "--weights-folder", path("none")}), kBadFile,
               "--weights-folder");
}

}  // namespace
}  // namespace morton::test
