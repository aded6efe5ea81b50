// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/rooms.hpp"
#include "tools/boards/static_cost.hpp"

namespace morton::test {
namespace {

using namespace tools;

/// A loop of 4 cycles with 64 multiply-adds, which take one, within 10 cycles in all.
CompilerStatistics with_loop(int multiply_adds) {
  CompilerStatistics statistics;
  statistics.multiply_adds_per_cycle = 64.0;
  statistics.all.bound = 10.0;
  statistics.all.cycles = {{"fma", 2.0}, {"ls", 10.0}};
  CodeCost turn;
  turn.bound = 4.0;
  turn.cycles = {{"fma", 1.0}, {"ls", 4.0}};
  turn.multiply_adds = multiply_adds;
  turn.multiply_add_cycles = multiply_adds / 64.0;
  turn.bytes_loaded = 32;
  statistics.hot_loop = turn;
  return statistics;
}

TEST(StaticCostOfStatistics, TurnsFollowFromTheMultiplyAdds) {
  const StaticCost cost = static_cost_of(with_loop(64), {1280.0, 5.0 / 4.0});
  EXPECT_EQ(cost.once, 6.0 * 64.0);
  EXPECT_EQ(cost.turn, 4.0 * 64.0);
  EXPECT_EQ(cost.operations, 128.0);
  EXPECT_EQ(cost.efficiency, 0.25);
  // Ten turns.
  EXPECT_EQ(cost.of_item(1280.0), (6.0 + 10.0 * 4.0) * 64.0);
}

TEST(StaticCostOfStatistics, OrFromTheElementsThatATurnLoads) {
  const StaticCost cost = static_cost_of(with_loop(0), {1280.0, 5.0 / 4.0});
  EXPECT_EQ(cost.operations, 8.0 * 5.0);
}

TEST(StaticCostOfStatistics, OrFromTheProductsOfCodes) {
  CompilerStatistics statistics = with_loop(0);
  statistics.hot_loop->integer_products = 24;
  EXPECT_EQ(static_cost_of(statistics, {1280.0, 0.25, true}).operations, 48.0);
  // Of other kernels they may be indices.
  EXPECT_EQ(static_cost_of(statistics, {1280.0, 0.25}).operations, 8.0);
  // Where there are dot products, others are indices.
  statistics.hot_loop->multiply_adds = 64;
  EXPECT_EQ(static_cost_of(statistics, {1280.0, 0.25, true}).operations, 128.0);
}

/// The problem of a stack of equal kernels begins with a step's name (plan/lower/joined_step.cpp).
TEST(WorkOfAKernel, IsOfCodesByItsFamily) {
  KernelText kernel;
  kernel.work = 1280.0;
  kernel.global = {16, 2, 3};
  kernel.family = "integer_gemm";
  kernel.problem =
      "MatMul_1: integer_gemm.panels, integer_gemm K=64 M=16 N=2 i32\n"
      "      MatMul_2: integer_gemm.panels, integer_gemm K=64 M=16 N=2 i32";
  EXPECT_TRUE(work_of(kernel).multiplies_codes);
  EXPECT_EQ(work_of(kernel).operations, 1280.0 / 96.0);
  kernel.family = "gemm";
  EXPECT_FALSE(work_of(kernel).multiplies_codes);
  // Different kernels in one launch have none.
  kernel.family.clear();
  EXPECT_FALSE(work_of(kernel).multiplies_codes);
}

TEST(StaticCostOfStatistics, WithoutALoopAllIsOneTurn) {
  CompilerStatistics statistics = with_loop(64);
  statistics.hot_loop.reset();
  const StaticCost cost = static_cost_of(statistics, {1280.0, 5.0 / 4.0});
  EXPECT_EQ(cost.once, 0.0);
  EXPECT_EQ(cost.of_item(1280.0), 10.0 * 64.0);
  EXPECT_EQ(cost.of_item(2560.0), 2.0 * 10.0 * 64.0);
}

}  // namespace
}  // namespace morton::test
