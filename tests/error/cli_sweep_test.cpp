// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using nlohmann::json;

/// `bench` with these words, as little time as can be, and an object for each size and kernel.
Outcome run_bench(std::vector<std::string> words) {
  words.insert(words.begin(), "bench");
  words.insert(words.end(), {"--warmup", "0ms", "--format", "json"});
  return run_program(words);
}

TEST(CliSweep, HasAnObjectForEachSizeAndKernel) {
  const Outcome outcome = run_bench({"gemm", "--squares", "3,17", "--shapes", "17x3x63",
                                     "--kernels", "rm_rm,gemm.r18_gemv", "-n", "2"});
  expect_success(outcome);
  const json cells = json::parse(outcome.out).at("cells");
  ASSERT_EQ(cells.size(), 6U) << outcome.text();
  std::vector<std::string> sizes;
  for (const json& cell : cells) {
    if (cell.at("kernel") == "gemm.r18_gemv") {
      EXPECT_EQ(cell.at("verdict"), "cannot");
      EXPECT_NE(cell.at("why").get<std::string>().find("N == 1"), std::string::npos);
      EXPECT_EQ(cell.at("repetitions"), 0);
      EXPECT_FALSE(cell.contains("median_ms"));
      continue;
    }
    sizes.push_back(cell.at("size"));
    EXPECT_EQ(cell.at("kernel"), "gemm.rm_rm");
    EXPECT_EQ(cell.at("verdict"), "right");
    EXPECT_EQ(cell.at("repetitions"), 2);
    EXPECT_GT(cell.at("mean_gflops").get<double>(), 0.0);
    for (const char* key : {"iqr_ms", "standard_error_ms", "standard_error_gflops"}) {
      EXPECT_GE(cell.at(key).get<double>(), 0.0) << key;
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::string>{"3", "17", "17x3x63"}));
  EXPECT_EQ(cells.at(4).at("m"), 17);
  EXPECT_EQ(cells.at(4).at("n"), 3);
  EXPECT_EQ(cells.at(4).at("k"), 63);
}

TEST(CliSweep, ABudgetCutsAndSaysSo) {
  const Outcome outcome =
      run_bench({"gemm", "--squares", "17,33", "--kernels", "rm_rm", "-n", "3", "--budget", "1us"});
  expect_success(outcome);
  const json cells = json::parse(outcome.out).at("cells");
  ASSERT_EQ(cells.size(), 2U) << outcome.text();
  EXPECT_EQ(cells.at(0).at("verdict"), "right");
  EXPECT_EQ(cells.at(0).at("repetitions"), 1);
  EXPECT_EQ(cells.at(0).at("why"), "1 of 3 samples within 1us");
  EXPECT_TRUE(cells.at(0).at("standard_error_ms").is_null());
  EXPECT_EQ(cells.at(1).at("verdict"), "not run");
  EXPECT_NE(cells.at(1).at("why").get<std::string>().find("by its last size"), std::string::npos);
}

TEST(CliSweep, MatricesHaveShapes) {
  const Outcome outcome =
      run_bench({"bias", "--shapes", "3x17,17x3", "--kernels", "rm,bias.cm", "-n", "1"});
  expect_success(outcome);
  const json cells = json::parse(outcome.out).at("cells");
  ASSERT_EQ(cells.size(), 4U) << outcome.text();
  EXPECT_EQ(cells.at(0).at("kernel"), "bias.rm");
  EXPECT_EQ(cells.at(3).at("kernel"), "bias.cm");
  EXPECT_EQ(cells.at(3).at("rows"), 17);
}

TEST(CliSweep, BatchesHaveKernelsOfTheirOwn) {
  const Outcome list =
      run_bench({"gemm", "--squares", "17", "--batch", "1,3", "--kernels", "rm_rm", "-n", "1"});
  expect_success(list);
  const json cells = json::parse(list.out).at("cells");
  ASSERT_EQ(cells.size(), 2U) << list.text();
  EXPECT_EQ(cells.at(1).at("batch"), 3);
  EXPECT_EQ(cells.at(1).at("size"), "3 x 17");
  EXPECT_EQ(cells.at(1).at("kernel"), "batched_gemm.rm_rm");
  EXPECT_EQ(cells.at(1).at("verdict"), "right");
  EXPECT_EQ(cells.at(1).at("flop"), 3 * 2.0 * 17 * 17 * 17);

  const Outcome one = run_bench({"gemm", "--m", "17", "--n", "3", "--k", "63", "--batch", "2",
                                 "--use", "gemm=gemm.rm_cm", "-n", "1"});
  expect_success(one);
  const json result = json::parse(one.out);
  EXPECT_EQ(result.at("problem").at("family"), "batched_gemm");
  EXPECT_EQ(result.at("contenders").at(0).at("name"), "batched_gemm.rm_cm");

  const Outcome bytes = run_bench(
      {"gemm", "--m", "17", "--n", "3", "--k", "63", "--batch", "2", "--type", "u8", "-n", "1"});
  expect_success(bytes);
  EXPECT_EQ(json::parse(bytes.out).at("problem").at("family"), "batched_integer_gemm");
}

TEST(CliSweep, FormatsHaveTheTunablesValues) {
  const Outcome outcome = run_bench(
      {"gemm", "--m", "17", "--n", "3", "--k", "63", "--kernels", "patch_panels,tile", "-n", "1"});
  expect_success(outcome);
  const json contenders = json::parse(outcome.out).at("contenders");
  ASSERT_EQ(contenders.size(), 2U) << outcome.text();
  for (const json& contender : contenders) {
    const std::string rhs = contender.at("operands").at("rhs");
    EXPECT_EQ(rhs.find('{'), std::string::npos) << rhs;
    EXPECT_NE(rhs.find('_'), std::string::npos) << rhs;
    EXPECT_TRUE(contender.at("standard_error_ms").is_null()) << "one sample has none";
  }
}

TEST(CliSweep, RoutinesOfClblastAlone) {
  const std::vector<std::pair<std::vector<std::string>, std::size_t>> cases{
      {{"copy", "--sizes", "17,1000"}, 2},
      {{"im2col", "--sizes", "5,17,100000", "--channels", "3"}, 3},
      {{"gemv", "--sizes", "63"}, 2},
      {{"gemm-batched", "--sizes", "17", "--batch", "1,3"}, 2},
      {{"gemm", "--sizes", "17"}, 1},
  };
  for (const auto& [words, count] : cases) {
    SCOPED_TRACE(words.front());
    std::vector<std::string> line{"bench", "clblast"};
    line.insert(line.end(), words.begin(), words.end());
    line.insert(line.end(), {"-n", "1", "--format", "json"});
    const Outcome outcome = run_program(line);
    if (outcome.err.find("does not load") != std::string::npos) {
      GTEST_SKIP() << "CLBlast is not installed";
    }
    expect_success(outcome);
    const json result = json::parse(outcome.out);
    ASSERT_EQ(result.at("rows").size(), count) << outcome.text();
    EXPECT_EQ(result.at("fit").is_null(), words.front() != "copy");
    EXPECT_EQ(result.at("least_indirect").is_null(), words.front() != "gemm");
    for (const json& row : result.at("rows")) {
      const bool beyond = row.value("square", 0) == 100000;
      EXPECT_EQ(row.at("verdict"), beyond ? "beyond" : "right");
      EXPECT_EQ(row.contains("median_ms"), !beyond);
    }
  }
}

TEST(CliSweep, RoutinesOfClblastBeyondEveryDevice) {
  const std::vector<std::vector<std::string>> cases{
      {"copy", "--sizes", "9223372036854775807"},
      {"im2col", "--sizes", "3000000000", "--channels", "1"},
      {"gemm", "--sizes", "4000000000,9223372036854775807"},
      {"gemm-batched", "--sizes", "1000000", "--batch", "9000000"},
      {"switch", "--sizes", "9223372036854775807"},
  };
  for (const auto& words : cases) {
    SCOPED_TRACE(words.front());
    std::vector<std::string> line{"bench", "clblast"};
    line.insert(line.end(), words.begin(), words.end());
    line.insert(line.end(), {"--format", "json"});
    const Outcome outcome = run_program(line);
    if (outcome.err.find("does not load") != std::string::npos) {
      GTEST_SKIP() << "CLBlast is not installed";
    }
    expect_success(outcome);
    const json rows = json::parse(outcome.out).at("rows");
    EXPECT_FALSE(rows.empty());
    for (const json& row : rows) {
      EXPECT_EQ(row.at("verdict"), "beyond");
      EXPECT_NE(row.at("why").get<std::string>().find("its operand of 8 EiB or more is beyond"),
                std::string::npos)
          << row.at("why");
      EXPECT_GT(row.at("bytes").get<double>(), 9e18);
    }
  }
}

TEST(CliSweep, WrongCommandLines) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases{
      {{"gemm", "--squares", "3", "--m", "3"}, "--squares and --shapes stand in its place"},
      {{"gemm", "--squares", "0"}, "1 or more"},
      {{"gemm", "--shapes", "3x4"}, "3 extents of 1 or more"},
      {{"bias", "--shapes", "3x4x5"}, "2 extents of 1 or more"},
      {{"bias", "--rows", "3"}, "--columns"},
      {{"gemm", "--squares", "3", "--kernels", "of_nobody"}, "gemm.rm_rm"},
      {{"gemm", "--squares", "3", "--kernels", "rm_rm", "--all"}, "--all"},
      {{"gemm", "--squares", "3", "--kernels", "r18_gemv"}, "N == 1"},
      {{"gemm", "--squares", "3", "--batch", "2", "--trans-a"}, "not transposed"},
      {{"gemm", "--squares", "3", "--batch", "2", "--peer", "openblas"}, "leave out --batch"},
      {{"gemm", "--squares", "3", "--kernels", ","}, "--kernels: expected names, got ','"},
      {{"gemm", "--squares", "3", "--kernels", "rm_rn"},
       "did you mean 'gemm.rm_rm' or 'gemm.rm_cm'?"},
      {{"gemm", "--squares", "3", "--use", "bias=bias.rm"}, "nothing that runs is of family bias"},
      {{"gemm", "--m", "3", "--n", "3", "--k", "3", "--set", "bias.rm:LOCAL_M=4"},
       "is of family bias"},
      {{"clblast", "copy", "--channels", "3"}, "does not read it; im2col does"},
      {{"clblast", "gemm", "--batch", "3"}, "does not read it; gemm-batched does"},
  };
  for (const auto& [words, part] : cases) {
    std::string line = "bench";
    for (const std::string& word : words) line += " " + word;
    SCOPED_TRACE(line);
    expect_error(run_bench(words), kUsage, part);
  }
}

}  // namespace
}  // namespace morton::test
