// SPDX-License-Identifier: Apache-2.0
//
// Products of 8-bit matrices from the command line: bench and compare gemm --type.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

std::vector<std::string> byte_product(const std::string& command,
                                      const std::vector<std::string>& more) {
  std::vector<std::string> words{command, "gemm", "--m", "13", "--n", "5", "--k", "63"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CliBytes, EveryKernelIsMeasured) {
  for (const char* type : {"u8", "s8"}) {
    const Outcome outcome = run_program(byte_product(
        "bench", {"--type", type, "--all", "-n", "1", "--warmup", "0ms", "--format", "json"}));
    expect_success(outcome);
    const nlohmann::json result = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(result.at("problem").at("family"), "integer_gemm");
    // integer_gemm.pairs is for CPUs.
    EXPECT_GE(result.at("contenders").size(), 3U) << outcome.text();
    for (const nlohmann::json& contender : result.at("contenders"))
      EXPECT_EQ(contender.at("error"), 0.0);
  }
}

/// gemmlowp's cells of bytes, by the kernels that are written for their formats.
TEST(CliBytes, CellsArePackedByTheirOwnKernels) {
  for (const char* type : {"u8", "s8"}) {
    const Outcome outcome =
        run_program(byte_product("bench", {"--type", type, "--use", "integer_gemm=cells_12x4",
                                           "--exclude", "pack.runs,pack.generic,pack.short_runs",
                                           "-n", "1", "--warmup", "0ms", "--format", "json"}));
    expect_success(outcome);
    const nlohmann::json result = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(
        result.at("contenders").at(0).at("steps"),
        (nlohmann::json{"pack.cells_12x4_lhs", "pack.cells_12x4_rhs", "integer_gemm.cells_12x4"}));
  }
}

TEST(CliBytes, GemmlowpAgrees) {
  const Outcome outcome =
      run_program(byte_product("bench", {"--type", "u8", "--peer", "gemmlowp", "--peer-folder",
                                         MORTON_SOURCE_DIR "/build/bench", "-n", "1", "--warmup",
                                         "0ms", "--format", "json"}));
  if (outcome.err.find("libmorton_gemmlowp") != std::string::npos) GTEST_SKIP() << outcome.err;
  expect_success(outcome);
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(result.at("contenders").size(), 2U) << outcome.text();
  EXPECT_TRUE(result.at("failed").empty());
}

TEST(CliBytes, ResultsAreEigens) {
  for (const std::string type : {"u8", "s8"}) {
    const Outcome outcome =
        run_program(byte_product("compare", {"--type", type, "--format", "json"}));
    expect_success(outcome);
    const nlohmann::json result = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(result.at("problem").at("type"), type == "s8" ? "i8" : "u8");
    EXPECT_EQ(result.at("outcomes").at(0).at("max_error"), 0.0);
  }
}

TEST(CliBytes, WhatCannotBeIsRefused) {
  expect_error(run_program(byte_product("bench", {"--type", "u4"})), kUsage, "u8");
  expect_error(run_program(byte_product("bench", {"--type", "u8", "--trans-a"})), kUsage,
               "operands of 8 bits are held plain");
  expect_error(run_program(byte_product("bench", {"--type", "u8", "--peer", "openblas"})), kUsage,
               "--peer openblas: it multiplies f32 here");
  expect_error(run_program(byte_product("bench", {"--peer", "gemmlowp"})), kUsage,
               "--peer gemmlowp: it multiplies u8 here");
  expect_error(
      run_program({"compare", "gemm", "--type", "u8", "--m", "1", "--n", "1", "--k", "33026"}),
      kBadFile, "sums of more than 33025 products of u8 and u8 may not fit 32 bits");
}

}  // namespace
}  // namespace morton::test
