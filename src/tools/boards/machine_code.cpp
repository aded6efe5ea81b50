// SPDX-License-Identifier: Apache-2.0
#include "tools/boards/machine_code.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"

namespace morton::tools {
namespace {

/// Where a loop begins, and the end behind its last jump backwards.
using Loops = std::map<std::size_t, std::size_t>;

Loops loops_of(const std::vector<Instruction>& code) {
  // Two jumps backwards to one place are one loop: `continue` makes them.
  Loops ends;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto& target = code[i].target;
    if (!target || *target < 0 || static_cast<std::size_t>(*target) > i) continue;
    std::size_t& end = ends[static_cast<std::size_t>(*target)];
    end = std::max(end, i + 1);
  }
  return ends;
}

/// The instructions of a loop that no loop within it has.
std::vector<Instruction> own_code(const std::vector<Instruction>& code, const Loops& loops,
                                  std::size_t begin) {
  const std::size_t end = loops.at(begin);
  std::vector<Instruction> own;
  for (std::size_t i = begin; i < end;) {
    const auto inner = i > begin ? loops.find(i) : loops.end();
    if (inner != loops.end() && inner->second <= end) {
      i = inner->second;
    } else {
      own.push_back(code[i++]);
    }
  }
  return own;
}

}  // namespace

void Labels::place(std::string_view name, std::size_t at) { places_.emplace(name, at); }

void Labels::jump(std::size_t from, std::string_view name) { jumps_.emplace_back(from, name); }

void Labels::resolve(std::vector<Instruction>& code, std::string_view compiler) const {
  for (const auto& [from, name] : jumps_) {
    const auto found = places_.find(name);
    if (found == places_.end()) not_understood(compiler, name);
    code[from].target = static_cast<std::ptrdiff_t>(found->second);
  }
}

CodeCost cost_of(const std::vector<Instruction>& code, std::size_t begin, std::size_t end) {
  CodeCost cost;
  int products = 0, sums = 0;
  double product_cycles = 0.0;
  for (std::size_t i = begin; i < end; ++i) {
    const Instruction& instruction = code[i];
    products += instruction.products;
    sums += instruction.sums;
    product_cycles += instruction.products * instruction.pair_cycles;
    cost.instructions += instruction.slots;
    if (!instruction.unit.empty()) cost.cycles[instruction.unit] += instruction.cycles;
    cost.multiply_adds += instruction.multiply_adds;
    cost.multiply_add_cycles += instruction.multiply_add_cycles;
    cost.integer_products += instruction.integer_products;
    cost.loads += instruction.bytes_loaded > 0 ? 1 : 0;
    cost.stores += instruction.bytes_stored > 0 ? 1 : 0;
    cost.bytes_loaded += instruction.bytes_loaded;
    cost.bytes_stored += instruction.bytes_stored;
    cost.moves += instruction.is_move ? 1 : 0;
    cost.waits += instruction.waits ? 1 : 0;
  }
  const int pairs = std::min(products, sums);
  cost.multiply_adds += pairs;
  if (pairs > 0) cost.multiply_add_cycles += pairs * product_cycles / products;
  for (const auto& [unit, cycles] : cost.cycles) cost.bound = std::max(cost.bound, cycles);
  return cost;
}

void read_code(const std::vector<Instruction>& code, CompilerStatistics& statistics) {
  statistics.all = cost_of(code, 0, code.size());
  statistics.prologue = statistics.all.instructions;
  const Loops loops = loops_of(code);
  for (const auto& [begin, end] : loops) {
    const std::vector<Instruction> own = own_code(code, loops, begin);
    const CodeCost turn = cost_of(own, 0, own.size());
    const auto& hot = statistics.hot_loop;
    const auto heat = [](const CodeCost& loop) {
      return std::tuple(loop.multiply_adds, loop.bytes_loaded, loop.instructions);
    };
    const bool is_hotter = !hot || heat(turn) > heat(*hot);
    if (!is_hotter) continue;
    statistics.hot_loop = turn;
    statistics.prologue = cost_of(code, 0, begin).instructions;
  }
}

void expect_counted(const CompilerStatistics& statistics, const char* what, int counted, int read) {
  if (counted == read) return;
  throw ModelError("the compiler's text: " + statistics.compiler + " counts " +
                   std::to_string(counted) + " " + what + ", and its machine code has " +
                   std::to_string(read) +
                   "; without machine code, ask for it (MORTON_BOARD_DEBUG of "
                   "tools/board_compilers.sh)");
}

void not_understood(std::string_view compiler, std::string_view line) {
  throw ModelError("the compiler's text: expected machine code of " + std::string(compiler) +
                   ", got '" + std::string(line.substr(0, 120)) +
                   "'; another version of the compiler may print it otherwise");
}

}  // namespace morton::tools
