// SPDX-License-Identifier: Apache-2.0
#include "tools/boards/static_cost.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "plan/cost/cost.hpp"
#include "problems/family.hpp"

namespace morton::tools {
namespace {

/// Cycles of the busiest unit in one pass without the loop.
double bound_without(const CodeCost& all, const CodeCost& loop) {
  double bound = 0.0;
  for (const auto& [unit, cycles] : all.cycles) {
    const auto found = loop.cycles.find(unit);
    bound = std::max(bound, cycles - (found == loop.cycles.end() ? 0.0 : found->second));
  }
  return bound;
}

bool is_of_codes(std::string_view family) {
  static constexpr std::array of_codes{families::integer_gemm, families::batched_integer_gemm,
                                       families::integer_conv2d};
  return std::any_of(of_codes.begin(), of_codes.end(),
                     [&](const Family& one) { return one == family; });
}

}  // namespace

ItemWork work_of(const KernelText& kernel) {
  return {kernel.work / work_items(kernel.global), kernel.work_for_each_byte,
          is_of_codes(kernel.family)};
}

StaticCost static_cost_of(const CompilerStatistics& statistics, const ItemWork& work) {
  StaticCost cost;
  cost.instructions = statistics.instructions;
  cost.prologue = statistics.prologue;
  cost.spills = statistics.spills;
  cost.threads = statistics.threads;
  cost.registers = statistics.registers;
  const CodeCost& all = statistics.all;
  const CodeCost& turn = statistics.hot_loop ? *statistics.hot_loop : all;
  cost.efficiency = turn.efficiency();
  const int products = turn.multiply_adds > 0  ? turn.multiply_adds
                       : work.multiplies_codes ? turn.integer_products
                                               : 0;
  const double of_turn = products > 0 ? 2.0 * products : turn.bytes_loaded * work.for_each_byte;
  const double rate = statistics.multiply_adds_per_cycle;
  if (!statistics.hot_loop || of_turn <= 0.0) {
    cost.turn = all.bound * rate;
    cost.operations = std::max(work.operations, 1.0);
    return cost;
  }
  cost.once = bound_without(all, turn) * rate;
  cost.turn = turn.bound * rate;
  cost.operations = of_turn;
  return cost;
}

}  // namespace morton::tools
