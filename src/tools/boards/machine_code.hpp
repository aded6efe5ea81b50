// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "morton/tools/compiler_statistics.hpp"

namespace morton::tools {

/// An instruction of a kernel's machine code, as far as its cost needs it.
struct Instruction {
  int slots = 1;        ///< issue slots, empty ones that it asks for among them
  std::string unit;     ///< that executes it; empty where it takes no unit's time
  double cycles = 0.0;  ///< of that unit (CodeCost)
  int multiply_adds = 0;
  double multiply_add_cycles = 0.0;
  int integer_products = 0;
  /// Of a GPU without multiply-adds: products and sums of floats. A loop has as many multiply-adds
  /// as it has both, each of its products' `pair_cycles`.
  int products = 0, sums = 0;
  double pair_cycles = 0.0;
  int bytes_loaded = 0, bytes_stored = 0;
  bool is_move = false;
  bool waits = false;
  std::optional<std::ptrdiff_t> target;  ///< of a jump: index of the instruction it goes to
};

/// Jumps to names, which become indices when all of the code is read.
class Labels {
 public:
  /// The name stands before instruction `at`.
  void place(std::string_view name, std::size_t at);
  /// Instruction `from` jumps to the name.
  void jump(std::size_t from, std::string_view name);
  /// Sets the targets; what jumps to no place is not understood.
  void resolve(std::vector<Instruction>& code, std::string_view compiler) const;

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;
};

/// What the instructions [begin, end) cost in one pass.
[[nodiscard]] CodeCost cost_of(const std::vector<Instruction>& code, std::size_t begin,
                               std::size_t end);

/// Sets the parts of the statistics that follow from the code: all, prologue and hot_loop. A loop
/// is what lies between a jump backwards and where it goes to, without the loops within it.
void read_code(const std::vector<Instruction>& code, CompilerStatistics& statistics);

/// One kernel's printed text, cut out of what a compiler said.
struct PrintedKernel {
  std::string function;                 ///< where the compiler names it
  std::vector<std::string_view> lines;  ///< of machine code
  std::string counts;                   ///< the line of statistics; where there are several, joined
};

/// ModelError that quotes the line which is not as the compiler prints it.
[[noreturn]] void not_understood(std::string_view compiler, std::string_view line);

/// Throws ModelError where the compiler counts other than what its machine code has.
void expect_counted(const CompilerStatistics& statistics, const char* what, int counted, int read);

/// What Mesa's line of statistics has for all Malis.
[[nodiscard]] CompilerStatistics read_mali_counts(const PrintedKernel& kernel,
                                                  const std::string& compiler);

/// One parser for each form of machine code.
[[nodiscard]] CompilerStatistics read_valhall(const PrintedKernel& kernel);
[[nodiscard]] CompilerStatistics read_bifrost(const PrintedKernel& kernel);
[[nodiscard]] CompilerStatistics read_midgard(const PrintedKernel& kernel);
[[nodiscard]] CompilerStatistics read_adreno(const PrintedKernel& kernel);

}  // namespace morton::tools
