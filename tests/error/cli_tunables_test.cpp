// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using nlohmann::json;

TEST(CliTunables, ValuesThatAreSetAreUsedAndShown) {
  const Outcome plan = run_program({"plan", kLenet, "--why", "--use", "gemm=gemm.tile", "--set",
                                    "gemm.tile:TILE_M=8,TILE_N=32"});
  expect_success(plan);
  EXPECT_NE(plan.out.find("TILE_M=8 TILE_N=32, as set"), std::string::npos) << plan.text();

  const Outcome bench =
      run_program({"bench", "gemm", "--m", "17", "--n", "63", "--k", "3", "--use",
                   "gemm=gemm.tile_unpacked", "--set", "gemm.tile_unpacked:TILE_M=1", "--set",
                   "gemm.tile_unpacked:TILE_N=16", "-n", "2", "--format", "json"});
  expect_success(bench);
  const json result = json::parse(bench.out);
  ASSERT_EQ(result.at("contenders").size(), 1U);
  const json& values = result.at("contenders").at(0).at("tunables").at("gemm.tile_unpacked");
  EXPECT_EQ(values.at("TILE_M"), 1);
  EXPECT_EQ(values.at("TILE_N"), 16);
}

TEST(CliTunables, WhatThereIsNotIsRefusedWithWhatThereIs) {
  struct Case {
    const char* set;
    const char* part;
  };
  for (const Case& wrong :
       {Case{"gemm.tiles:TILE_M=8", "near it: gemm.tile (`morton kernel`"},
        Case{"gemm.swapped:TILE_M=8", "the recipe has no such tunable; it has none"},
        Case{"gemm.tile:TILE=8", "TILE_M of 1"}, Case{"gemm.tile:TILE_M=3", "TILE_M takes 1"},
        Case{"gemm.clblast:TILE_M=3", "it has none"},
        Case{"gemm.tile", "expected KERNEL:TUNABLE=VALUE"},
        Case{"gemm.tile:TILE_M", "expected KERNEL:TUNABLE=VALUE"},
        Case{"gemm.tile:TILE_M=8x", "expected KERNEL:TUNABLE=VALUE"},
        Case{"gemm.tile:TILE_M=8,", "expected KERNEL:TUNABLE=VALUE"},
        Case{"gemm.tile:TILE_M=8,TILE_M=1", "TILE_M is given twice"}}) {
    SCOPED_TRACE(wrong.set);
    expect_error(run_program({"plan", kLenet, "--set", wrong.set}), kUsage, wrong.part);
  }
}

}  // namespace
}  // namespace morton::test
