// SPDX-License-Identifier: Apache-2.0
#include "model/statistics_report.hpp"

#include <fmt/format.h>

#include "common/json_values.hpp"

namespace morton::cli {
namespace {

std::string cycles_text(const CodeCost& cost) {
  std::string text;
  for (const auto& [unit, cycles] : cost.cycles) {
    text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", unit, cycles);
  }
  return text.empty() ? "none" : text;
}

std::string hot_loop_text(const CodeCost& turn) {
  std::string text = fmt::format(
      "hot loop, one turn\n"
      "  issue slots    {}, of them {} moves\n"
      "  multiply-adds  {}\n"
      "  memory         {} loads of {} bytes, {} stores of {} bytes\n"
      "  cycles         {}\n",
      turn.instructions, turn.moves, turn.multiply_adds, turn.loads, turn.bytes_loaded, turn.stores,
      turn.bytes_stored, cycles_text(turn));
  if (turn.multiply_adds > 0) {
    text += fmt::format("  static efficiency {:.2f}: multiply-adds take {:.3g} of {:.3g} cycles\n",
                        turn.efficiency(), turn.multiply_add_cycles, turn.bound);
  }
  return text;
}

Json cost_json(const CodeCost& cost) {
  return {{"instructions", cost.instructions},
          {"cycles", cost.cycles},
          {"bound", cost.bound},
          {"multiply_adds", cost.multiply_adds},
          {"multiply_add_cycles", cost.multiply_add_cycles},
          {"integer_products", cost.integer_products},
          {"efficiency", cost.efficiency()},
          {"loads", cost.loads},
          {"stores", cost.stores},
          {"bytes_loaded", cost.bytes_loaded},
          {"bytes_stored", cost.bytes_stored},
          {"moves", cost.moves},
          {"waits", cost.waits}};
}

}  // namespace

std::optional<CompilerStatistics> statistics_of(const KernelBuild& build) {
  const auto all = read_compiler_statistics(build.said);
  if (all.empty()) return std::nullopt;
  return all.back();
}

std::string statistics_text(const CompilerStatistics& statistics) {
  std::string text = fmt::format("compiler         {}\ninstructions     {}\n", statistics.compiler,
                                 statistics.instructions);
  const auto add = [&text](const char* name, const std::optional<int>& value, const char* what) {
    if (value) text += fmt::format("{:16} {}{}\n", name, *value, what);
  };
  add("registers", statistics.registers, " vectors of 4 floats");
  add("half registers", statistics.half_registers, "");
  add("threads", statistics.threads, " times as many work-items as with all registers");
  add("stalls", statistics.stalls, " cycles of a wave that is alone");
  text += fmt::format(
      "spills, fills    {}, {}\nloops            {}\nprologue         {} issue slots\n"
      "one pass         {:.3g} cycles: {}\n",
      statistics.spills, statistics.fills, statistics.loops, statistics.prologue,
      statistics.all.bound, cycles_text(statistics.all));
  return text + (statistics.hot_loop ? hot_loop_text(*statistics.hot_loop) : "no loop\n");
}

Json statistics_json(const CompilerStatistics& statistics) {
  return {{"compiler", statistics.compiler},
          {"function", statistics.function},
          {"instructions", statistics.instructions},
          {"threads", or_null(statistics.threads)},
          {"registers", or_null(statistics.registers)},
          {"half_registers", or_null(statistics.half_registers)},
          {"stalls", or_null(statistics.stalls)},
          {"spills", statistics.spills},
          {"fills", statistics.fills},
          {"loops", statistics.loops},
          {"prologue", statistics.prologue},
          {"all", cost_json(statistics.all)},
          {"hot_loop", statistics.hot_loop ? cost_json(*statistics.hot_loop) : Json()}};
}

}  // namespace morton::cli
