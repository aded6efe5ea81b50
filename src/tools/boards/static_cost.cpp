// SPDX-License-Identifier: Apache-2.0
#include "tools/boards/static_cost.hpp"

#include <algorithm>

#include "plan/cost/cost.hpp"

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

}  // namespace

ItemWork work_of(const KernelText& kernel) {
  return {kernel.work / work_items(kernel.global), kernel.work_for_each_element};
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
  constexpr double kElementBytes = 4.0;
  const double of_turn = turn.multiply_adds > 0
                             ? 2.0 * turn.multiply_adds
                             : turn.bytes_loaded / kElementBytes * work.for_each_element;
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
