// SPDX-License-Identifier: Apache-2.0
//
// `morton compile` and the files that it writes, damaged and elsewhere.
#include <gtest/gtest.h>

#include "error/cli_program.hpp"
#include "morton/files.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

/// LeNet-5, compiled once for all tests.
class CliCompile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder();
    expect_success(
        run_program({"compile", kLenet, "-o", file(), "--also-shape", "input:3x1x32x32"}));
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string file() { return path("lenet.morton"); }
  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
  /// Runs it on a digit, with caches that hold nothing.
  static Outcome run_empty(const std::string& model, std::vector<std::string> more = {}) {
    const TemporaryFolder caches;
    std::vector<std::string> words{"run", model, "-i", kDigit, "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, {{"MORTON_CACHE_DIR", (caches.path() / "morton").string()},
                               {"POCL_CACHE_DIR", (caches.path() / "pocl").string()}});
  }

  static TemporaryFolder* folder_;
};

TemporaryFolder* CliCompile::folder_ = nullptr;

TEST_F(CliCompile, BuildsOnlyAndSaysWhatWasBuilt) {
  const Outcome table = run_program({"compile", kLenet, "--build-only"});
  expect_success(table);
  EXPECT_NE(table.out.find("0 failed"), std::string::npos) << table.text();
  const Outcome json = run_program({"compile", kLenet, "--build-only", "--format", "json"});
  expect_success(json);
  EXPECT_NE(json.out.find("\"built\": true"), std::string::npos) << json.text();
  EXPECT_NE(json.out.find("\"step_names\": ["), std::string::npos) << json.text();
  expect_error(run_program({"compile", "--build-only"}), kUsage, "model");
  expect_error(run_program({"compile", kLenet, "--all", "--build-only"}), kUsage, "--all");
  expect_error(run_program({"compile", kLenet, "--all", "-o", path("no.morton")}), kUsage, "--all");
  expect_error(run_program({"compile", kLenet}), kUsage, "-o");
}

TEST_F(CliCompile, RunsWithoutBuildingAndAgreesWithTheModel) {
  const Outcome ahead = run_empty(file());
  expect_success(ahead);
  EXPECT_NE(ahead.out.find("\"built\": 0"), std::string::npos) << ahead.text();
  EXPECT_EQ(ahead.out.find("\"compiled_ahead\": 0"), std::string::npos) << ahead.text();
  const Outcome model = run_program({"run", kLenet, "-i", kDigit, "-o", path("model.npz")});
  expect_success(model);
  expect_success(run_program({"run", file(), "-i", kDigit, "-o", path("ahead.npz")}));
  const auto a = read_tensors(path("model.npz"));
  const auto b = read_tensors(path("ahead.npz"));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].tensor.shape(), b[i].tensor.shape());
    for (std::int64_t k = 0; k < a[i].tensor.size(); ++k) {
      EXPECT_EQ(a[i].tensor.at(k), b[i].tensor.at(k)) << k;
    }
  }
}

TEST_F(CliCompile, TakesTheShapesThatItHoldsAndNoOthers) {
  const std::vector<std::string> three{"-i", kDigit, "-i", kDigit};
  expect_success(run_empty(file(), three));
  expect_error(run_empty(file(), {"-i", kDigit}), kUsage, "--also-shape");
  expect_error(run_program({"bench", file(), "--batch", "17", "-n", "1"}), kUsage, "--also-shape");
}

TEST_F(CliCompile, BenchAndProfileTakeTheFile) {
  const Outcome bench = run_program({"bench", file(), "-n", "1"});
  expect_success(bench);
  EXPECT_NE(bench.out.find("compiled ahead"), std::string::npos) << bench.text();
  expect_success(run_program({"profile", file(), "-n", "1", "--format", "json"}));
}

TEST_F(CliCompile, RefusesOptionsThatItCannotObey) {
  expect_error(run_program({"run", file(), "-i", kDigit, "--use", "gemm=gemm.naive"}), kUsage,
               "--use");
  expect_error(run_program({"run", kLenet, "-i", kDigit, "--rebuild"}), kUsage, "--rebuild");
  expect_error(run_program({"compile", file(), "-o", path("again.morton")}), kUsage, "already");
  expect_error(run_program({"compile", kLenet, "-o", "/proc/nowhere/lenet.morton"}), kUsage,
               "/proc/nowhere");
}

TEST_F(CliCompile, RefusesABatchThatTheModelDoesNotLeaveOpen) {
  onnx::ModelProto model = model_with_input({3, 17});
  add_node(model, "Relu", {"x"}, "y");
  const std::string fixed = path("fixed.morton");
  expect_success(
      run_program({"compile", save(model, folder_->path() / "fixed.onnx"), "-o", fixed}));
  expect_success(run_program({"bench", fixed, "--batch", "3", "-n", "1"}));
  expect_error(run_program({"bench", fixed, "--batch", "7", "-n", "1"}), kUsage, "open batch");
}

TEST_F(CliCompile, RefusesAnotherDeviceUnlessItIsAskedToBuild) {
  const std::map<std::string, std::string> other{{"POCL_MAX_PTHREAD_COUNT", "1"}};
  const Outcome refused = run_program({"run", file(), "-i", kDigit}, other);
  if (refused.status == 0) GTEST_SKIP() << "the device is the same with one thread";
  expect_error(refused, kUsage, "was compiled for");
  const Outcome rebuilt = run_program({"run", file(), "-i", kDigit, "--rebuild"}, other);
  expect_success(rebuilt);
  EXPECT_NE(rebuilt.err.find("built from source"), std::string::npos) << rebuilt.text();
  expect_error(run_program({"run", file(), "-i", kDigit, "--rebuild", "--strict"}, other), kBadFile,
               "--strict");
}

TEST_F(CliCompile, RefusesTruncatedFiles) {
  const std::string whole = read_bytes(file());
  for (std::size_t part = 0; part < 50; ++part) {
    SCOPED_TRACE(part);
    write_bytes(path("cut.morton"), whole.substr(0, whole.size() * part / 50));
    const Outcome outcome = run_program({"run", path("cut.morton"), "-i", kDigit});
    expect_error(outcome, kBadFile, path("cut.morton"));
  }
  write_bytes(path("cut.morton"), whole + "x");
  expect_error(run_program({"run", path("cut.morton"), "-i", kDigit}), kBadFile, "more than");
}

TEST_F(CliCompile, RefusesFlippedBits) {
  // Of two variants only one is loaded, so damage to what only the other has may be passed over.
  expect_success(run_program({"compile", kLenet, "-o", path("one.morton")}));
  const std::string one = read_bytes(path("one.morton"));
  for (std::size_t part = 0; part < 40; ++part) {
    SCOPED_TRACE(part);
    std::string damaged = one;
    damaged[damaged.size() * part / 40 + 5] ^= 0x10;
    write_bytes(path("flipped.morton"), damaged);
    expect_error(run_program({"run", path("flipped.morton"), "-i", kDigit}), kBadFile,
                 path("flipped.morton"));
  }
}

}  // namespace
}  // namespace morton::test
