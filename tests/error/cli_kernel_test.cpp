// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using nlohmann::json;

constexpr const char* kCpu = "tests/devices/pocl_cpu.json";
constexpr const char* kGpu = "tests/devices/mali_t628.json";

std::vector<std::string> kernel(std::vector<std::string> words, const char* device = kCpu) {
  words.insert(words.begin(), "kernel");
  words.insert(words.end(), {"--device-info", device});
  return words;
}

TEST(CliKernel, WrongCommandLines) {
  struct Case {
    std::vector<std::string> words;
    const char* part;
  };
  for (const Case& wrong : {
           Case{{"gemm.tile_copid"},
                "there is no kernel 'gemm.tile_copid'; near it: gemm.tile_copied"},
           Case{{"planes"}, "near it: average_pool2d.planes"},
           Case{{"of_nobody_at_all"}, "`morton kernel` lists them"},
           Case{{"gemm.split_k"}, "is a recipe"},
           Case{{"gemm.naive", "--problem", "Q=1"},
                "--problem: gemm has no size 'Q'; it has M, N, K"},
           Case{{"gemm.naive", "--problem", "M"}, "--problem M: expected NAME=NUMBER"},
           Case{{"gemm.naive", "--problem", "M=3x"}, "expected NAME=NUMBER"},
           Case{{"gemm.naive", "--problem", "M=3,M=4"}, "M is given twice"},
           Case{{"gemm.naive", "--problem", "M=0"}, "--problem: lhs of gemm would be"},
           Case{{"gemm.tile", "--set", "gemm.tile:TILE_M=3"}, "TILE_M takes 1"},
           Case{{"gemm.naive", "--set", "gemm.tile:TILE_M=8"},
                "which is not the kernel that is shown"},
           Case{{"gemm.naive", "--batch", "3"}, "`morton kernel NAME` does not read it"},
           Case{{"--model", kLenet, "99"}, "expected the number of a step, 0 to"},
           Case{{"--model", kLenet, "gemm.tile"}, "expected the number of a step, 0 to"},
           Case{{"--model", kLenet, "--problem", "M=1"}, "--problem"},
       }) {
    expect_error(run_program(kernel(wrong.words)), kUsage, wrong.part);
  }
  expect_error(run_program({"kernel", "--problem", "M=1"}), kUsage, "--problem");
  expect_error(run_program(kernel({"gemm.clblast"})), kBadFile, "is the routine gemm of CLBlast");
  expect_error(run_program(kernel({"conv2d.blocks_32"}, kGpu)), kBadFile,
               "it requires device.is_cpu");
}

TEST(CliKernel, ShowsTheTextBehindItsHead) {
  const Outcome outcome = run_program(
      kernel({"gemm.tile", "--problem", "M=17,N=3,K=63", "--set", "gemm.tile:TILE_M=8,TILE_N=32"}));
  expect_success(outcome);
  for (const char* part :
       {"// gemm.tile\n// problem     gemm K=63 M=17 N=3 f32\n// device      ",
        "// tunables    LANES=16 TILE_M=8 TILE_N=32, as set\n", "#line 1 \"gemm/tile.cl\"\n",
        "#define TILE_M 8\n", "__kernel ATTRIBUTES void tile(ARGUMENTS)"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << outcome.out;
  }
  // The head is comments, up to the first generated line.
  const std::string head = outcome.out.substr(0, outcome.out.find("#line 1"));
  EXPECT_EQ(head.find("\n\n"), head.size() - 2) << head;
}

TEST(CliKernel, AsJsonHasTheArgumentsInTheirOrder) {
  const Outcome outcome = run_program(kernel({"gemm.naive", "--format", "json"}));
  expect_success(outcome);
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("kernel"), "gemm.naive");
  const auto& arguments = result.at("arguments");
  ASSERT_GE(arguments.size(), 6U);
  EXPECT_EQ(arguments.at(0),
            (json{{"type", "int"}, {"name", "M"}, {"value", 64}, {"meaning", "the extent M"}}));
  const std::string text = result.at("text");
  EXPECT_NE(text.find("#define ARGUMENTS int M, "), std::string::npos) << text;
}

TEST(CliKernel, ListsKernelsByFamilyAndStepsOfAModel) {
  const Outcome list = run_program({"kernel"});
  expect_success(list);
  EXPECT_NE(list.out.find("gemm\n  gemm.a16_image\n"), std::string::npos) << list.out;
  EXPECT_EQ(list.out.find("clblast"), std::string::npos);
  const Outcome steps = run_program(kernel({"--model", kLenet}));
  expect_success(steps);
  const Outcome first = run_program(kernel({"--model", kLenet, "0"}));
  expect_success(first);
  EXPECT_NE(first.out.find("// step        "), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("__kernel "), std::string::npos);
}

TEST(CliKernel, GoesToAFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "naive.cl").string();
  const Outcome outcome = run_program(kernel({"gemm.naive", "-o", path}));
  expect_success(outcome);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(read_bytes(path).find("__kernel "), std::string::npos);
}

}  // namespace
}  // namespace morton::test
