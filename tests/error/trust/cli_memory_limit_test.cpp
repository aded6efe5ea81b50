// SPDX-License-Identifier: Apache-2.0
//
// `--memory-limit` beside the layer of tests/faults, which counts what the driver is asked for.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;

/// Device memory that is left when the program ends, and the most that it held, as the layer
/// counted.
struct Counted {
  long long bytes = 0, peak_bytes = 0;
};

class CliMemoryLimit : public ::testing::Test {
 protected:
  void SetUp() override {
    layer_ = fs::path(MORTON_PROGRAM).parent_path() / "tests" / "libmorton_fault_layer.so";
    if (!fs::exists(layer_)) GTEST_SKIP() << "the layer is not built";
  }

  /// LeNet-5 on `batch` random pictures, with this limit if there is one.
  [[nodiscard]] Outcome run_within(std::optional<long long> limit, int batch,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"bench",       kLenet,
                                   "-n",          "1",
                                   "--batch",     std::to_string(batch),
                                   "--cache-dir", (folder_ / "cache").string()};
    if (limit) words.insert(words.end(), {"--memory-limit", std::to_string(*limit)});
    words.insert(words.end(), more.begin(), more.end());
    std::error_code status;
    fs::remove(report_, status);
    return run_program(
        words, {{"OPENCL_LAYERS", layer_.string()}, {"MORTON_LAYER_REPORT", report_.string()}});
  }

  /// Of the program itself: its worker processes end before it, each with a line of its own.
  [[nodiscard]] Counted counted() const {
    Counted found;
    const std::string text = read_bytes(report_);
    const std::size_t at = text.rfind("bytes ", text.rfind("peak ") - 1);
    const char* const last = at == std::string::npos ? "" : text.c_str() + at;
    EXPECT_EQ(std::sscanf(last, "bytes %lld, peak bytes %lld", &found.bytes, &found.peak_bytes), 2)
        << text;
    return found;
  }

  TemporaryFolder folder_;
  fs::path layer_;
  fs::path report_ = folder_ / "report";
};

TEST_F(CliMemoryLimit, NeverIsMoreTaken) {
  for (const int batch : {1, 64}) {
    SCOPED_TRACE(batch);
    expect_success(run_within({}, batch));
    const long long most = counted().peak_bytes;
    ASSERT_GT(most, 100'000);
    expect_success(run_within(most, batch));
    EXPECT_LE(counted().peak_bytes, most);
    for (const long long part : {2, 4, 16}) {
      SCOPED_TRACE(part);
      const Outcome outcome = run_within(most / part, batch);
      if (outcome.status != 0) expect_error(outcome, kDevice, "--memory-limit");
      const Counted at_end = counted();
      EXPECT_LE(at_end.peak_bytes, most / part);
      EXPECT_EQ(at_end.bytes, 0);
    }
  }
}

TEST_F(CliMemoryLimit, WeightsThatTakeTurnsTakeLess) {
  expect_success(run_within({}, 1));
  const long long whole = counted().peak_bytes;
  const std::vector<std::string> turns{"--weight-limit", "64KiB"};
  expect_success(run_within({}, 1, turns));
  const long long least = counted().peak_bytes;
  // LeNet has 240 KiB of weights.
  EXPECT_LT(least, whole - 140'000);
  expect_success(run_within(least, 1, turns));
  EXPECT_LE(counted().peak_bytes, least);
  expect_error(run_within(least, 1), kDevice, "--memory-limit");
}

}  // namespace
}  // namespace morton::test
