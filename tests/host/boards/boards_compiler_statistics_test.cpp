// SPDX-License-Identifier: Apache-2.0
//
// naive_*.txt: what Mesa 25.0.7 prints of gemm.naive (M = N = K = 64), without its intermediate
// forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "morton/error.hpp"
#include "morton/tools/compiler_statistics.hpp"
#include "tools/boards/machine_code.hpp"

namespace morton::test {
namespace {

std::string printed_for(const std::string& board) {
  std::ifstream file(MORTON_SOURCE_DIR "/tests/host/boards/naive_" + board + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.rfind(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

/// The statistics of the build for launches without a global offset, which is the second.
CompilerStatistics last_for(const std::string& board) {
  const auto all = read_compiler_statistics(printed_for(board));
  EXPECT_EQ(all.size(), 2U);
  return all.back();
}

TEST(CompilerStatisticsText, Valhall) {
  const CompilerStatistics kernel = last_for("g610");
  EXPECT_EQ(kernel.compiler, "Valhall");
  EXPECT_EQ(kernel.function, "naive_d3e6d072f2cd");
  EXPECT_EQ(kernel.instructions, 61);
  EXPECT_EQ(kernel.threads, 2);
  EXPECT_EQ(kernel.spills, 0);
  EXPECT_EQ(kernel.loops, 3);
  EXPECT_EQ(kernel.all.instructions, kernel.instructions);
  ASSERT_TRUE(kernel.hot_loop.has_value());
  EXPECT_EQ(kernel.hot_loop->instructions, 33);
  EXPECT_EQ(kernel.hot_loop->multiply_adds, 1);
  EXPECT_EQ(kernel.hot_loop->loads, 2);
  EXPECT_EQ(kernel.hot_loop->bytes_loaded, 8);
  EXPECT_DOUBLE_EQ(kernel.hot_loop->cycles.at("fma"), 1.0 / 64);
  EXPECT_DOUBLE_EQ(kernel.hot_loop->cycles.at("sfu"), 12.0 / 16);
  EXPECT_DOUBLE_EQ(kernel.hot_loop->efficiency(), (1.0 / 64) / (12.0 / 16));
}

/// The hot loop with another instruction in place of its multiply-add.
CodeCost hot_loop_with(const std::string& board, const std::string& instruction) {
  const std::string text = replaced(printed_for(board), "FMA.f32", instruction);
  return read_compiler_statistics(text).back().hot_loop.value();
}

TEST(CompilerStatisticsText, DotProductsAreFourMultiplyAdds) {
  const CodeCost valhall = hot_loop_with("g610", "IDP.v4s8");
  EXPECT_EQ(valhall.multiply_adds, 4);
  EXPECT_DOUBLE_EQ(valhall.multiply_add_cycles, 1.0 / 64);
  const CodeCost bifrost = hot_loop_with("g52", "IDP.v4i8");
  EXPECT_EQ(bifrost.multiply_adds, 4);
  EXPECT_DOUBLE_EQ(bifrost.multiply_add_cycles, 1.0 / 24);
}

TEST(CompilerStatisticsText, ProductsOfWholeNumbersAreCounted) {
  const int others = last_for("g610").hot_loop->integer_products;
  EXPECT_EQ(hot_loop_with("g610", "IMUL.v2i16").integer_products, others + 2);
  EXPECT_EQ(hot_loop_with("g610", "IMUL.v2i16").multiply_adds, 0);
}

TEST(CompilerStatisticsText, Bifrost) {
  const CompilerStatistics kernel = last_for("g52");
  EXPECT_EQ(kernel.compiler, "Bifrost");
  EXPECT_EQ(kernel.instructions, 56);
  ASSERT_TRUE(kernel.hot_loop.has_value());
  EXPECT_EQ(kernel.hot_loop->instructions, 25) << "tuples";
  EXPECT_EQ(kernel.hot_loop->multiply_adds, 1);
  EXPECT_EQ(kernel.hot_loop->loads, 2);
  EXPECT_DOUBLE_EQ(kernel.hot_loop->bound, 25.0 / 24);
}

TEST(CompilerStatisticsText, Midgard) {
  const CompilerStatistics kernel = last_for("t860");
  EXPECT_EQ(kernel.compiler, "Midgard");
  EXPECT_EQ(kernel.registers, 4);
  EXPECT_EQ(kernel.threads, 4);
  ASSERT_TRUE(kernel.hot_loop.has_value());
  EXPECT_EQ(kernel.hot_loop->instructions, 10) << "bundles";
  EXPECT_EQ(kernel.all.loads, 5) << "three bundles of arguments, none of the ids, two of the loop";
  EXPECT_EQ(kernel.hot_loop->multiply_adds, 1);
  EXPECT_EQ(kernel.hot_loop->loads, 2);
  EXPECT_DOUBLE_EQ(kernel.hot_loop->bound, 4.0);
}

TEST(CompilerStatisticsText, MidgardTakesTwiceAsManyHalves) {
  std::string printed = printed_for("t860");
  for (const char* operation : {"FMUL", "FADD"}) {
    const std::string of_floats = std::string(operation) + ".f32";
    while (printed.find(of_floats) != std::string::npos) {
      printed = replaced(printed, of_floats, std::string(operation) + ".f16");
    }
  }
  const CompilerStatistics kernel = read_compiler_statistics(printed).back();
  EXPECT_EQ(kernel.hot_loop->multiply_adds, 1);
  EXPECT_DOUBLE_EQ(kernel.hot_loop->efficiency(), last_for("t860").hot_loop->efficiency() / 2.0);
}

TEST(CompilerStatisticsText, Adreno) {
  const CompilerStatistics kernel = last_for("a740");
  EXPECT_EQ(kernel.compiler, "ir3");
  EXPECT_EQ(kernel.instructions, 146);
  EXPECT_EQ(kernel.registers, 7);
  EXPECT_EQ(kernel.loops, 3);
  ASSERT_TRUE(kernel.hot_loop.has_value());
  EXPECT_EQ(kernel.hot_loop->multiply_adds, 1);
  EXPECT_EQ(kernel.hot_loop->loads, 2);
  EXPECT_GT(kernel.hot_loop->waits, 0);
}

TEST(CompilerStatisticsText, ProductsAndMaximaAreNoMultiplyAdds) {
  const auto multiply_adds = [](const std::string& text) {
    return read_compiler_statistics(text).back().all.multiply_adds;
  };
  const std::string valhall = printed_for("g610"), bifrost = printed_for("g52");
  EXPECT_EQ(multiply_adds(valhall), 1);
  EXPECT_EQ(multiply_adds(replaced(valhall, "FMA.f32", "FMAX.f32")), 0);
  EXPECT_EQ(multiply_adds(replaced(bifrost, "*FMA.f32", "*FMAX.f32")), 0);
  const std::size_t line = valhall.rfind("FMA.f32");
  const std::string product = valhall.substr(0, line) + "FMA.f32 r1, r2, r3, 0x0.neg" +
                              valhall.substr(valhall.find('\n', line));
  EXPECT_EQ(multiply_adds(product), 0);
}

TEST(CompilerStatisticsText, AnAdrenosKernelNeedNoPreamble) {
  std::string text = replaced(printed_for("a740"), "naive_d3e6d072f2cd", "second");
  for (int i = 0; i < 2; ++i) {
    const std::size_t begin = text.rfind('\n', text.rfind("preamble instr"));
    text.erase(begin, text.find('\n', begin + 1) - begin);
  }
  const auto all = read_compiler_statistics(text);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.front().function, "naive_d3e6d072f2cd");
  EXPECT_EQ(all.back().function, "second");
}

TEST(CompilerStatisticsText, AnotherCompilersTextHasNone) {
  EXPECT_TRUE(read_compiler_statistics("").empty());
  EXPECT_TRUE(read_compiler_statistics("ptxas info: Used 12 registers\n").empty());
}

TEST(CompilerStatisticsText, WhatIsPrintedOtherwiseIsAnError) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(read_compiler_statistics(text));
    } catch (const ModelError& error) {
      return error.what();
    }
    return "none";
  };
  using testing::HasSubstr;
  EXPECT_THAT(error_of(replaced(printed_for("g610"), "FMA.f32", "FOO.f32")), HasSubstr("FOO.f32"));
  EXPECT_THAT(error_of(replaced(printed_for("g610"), "   MOV.i32", "\n   ")),
              HasSubstr("machine code"));
  const std::string only_counts =
      printed_for("g610").substr(printed_for("g610").rfind("SHADER-DB"));
  EXPECT_THAT(error_of(only_counts), HasSubstr("MORTON_BOARD_DEBUG"));
  EXPECT_THAT(error_of(replaced(printed_for("g610"), " threads", " strands")),
              HasSubstr("expected machine code of Valhall"));
  EXPECT_THAT(error_of(replaced(printed_for("g52"), "    *FMA", "    %FMA")), HasSubstr("Bifrost"));
  EXPECT_THAT(error_of(replaced(printed_for("t860"), "-13", "-99")), HasSubstr("midst"));
  EXPECT_THAT(error_of(replaced(printed_for("a740"), "mad.f32", "mud.f32")), HasSubstr("mud.f32"));
  EXPECT_THAT(error_of(replaced(printed_for("a740"), "jump #l", "jump #m")), HasSubstr("jump #m"));
}

TEST(MachineCode, TheHotLoopHasMostMultiplyAddsOfItsOwn) {
  using tools::Instruction;
  std::vector<Instruction> code(10);
  for (Instruction& one : code) {
    one.unit = "u";
    one.cycles = 1.0;
  }
  code[2].multiply_adds = 1;  // an inner loop: 2 and 3
  code[3].target = 2;
  code[5].multiply_adds = 3;  // another one: 5 to 7, with two jumps backwards
  code[6].target = 5;
  code[7].target = 5;
  code[8].target = 1;  // the outer loop
  CompilerStatistics statistics;
  tools::read_code(code, statistics);
  ASSERT_TRUE(statistics.hot_loop.has_value());
  EXPECT_EQ(statistics.hot_loop->instructions, 3);
  EXPECT_EQ(statistics.hot_loop->multiply_adds, 3);
  EXPECT_EQ(statistics.prologue, 5);
  EXPECT_EQ(statistics.all.instructions, 10);

  code[1].multiply_adds = 4;  // the outer loop has 1, 4 and 8 for itself
  CompilerStatistics outer;
  tools::read_code(code, outer);
  EXPECT_EQ(outer.hot_loop->instructions, 3);
  EXPECT_EQ(outer.hot_loop->multiply_adds, 4);
}

}  // namespace
}  // namespace morton::test
