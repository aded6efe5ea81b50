// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "morton/export.hpp"

namespace morton {

/// What one pass through a piece of machine code costs a work-item. A cycle is one of a shader core
/// that is full of work-items, so an instruction that 64 of them execute at once costs 1/64.
/// Memory answers at its best: a load takes the time of a request that hits the nearest cache and
/// lies in one line for all work-items that go in step.
struct CodeCost {
  int instructions = 0;                  ///< issue slots; empty ones (NOP) count
  std::map<std::string, double> cycles;  ///< unit, by the compiler's name -> cycles
  double bound = 0.0;                    ///< cycles of the busiest unit
  int multiply_adds = 0;                 ///< one of two packed halves is two, a dot product four
  double multiply_add_cycles = 0.0;      ///< that their unit spends on them
  int integer_products = 0;   ///< of two whole numbers, indices among them; dot products are none
  int loads = 0, stores = 0;  ///< instructions, of any memory
  int bytes_loaded = 0, bytes_stored = 0;
  int moves = 0;  ///< between registers
  int waits = 0;  ///< instructions that wait for memory or a slow unit, where the code marks them

  /// Share of the multiply-adds in the bound: 1 where nothing else holds them up. The static
  /// efficiency, where the code is a loop that does the work. 0 without multiply-adds.
  [[nodiscard]] double efficiency() const {
    return bound > 0.0 ? multiply_add_cycles / bound : 0.0;
  }
};

/// What a compiler says of a kernel, and what its machine code shows.
struct CompilerStatistics {
  std::string compiler;  ///< "Valhall", "Bifrost", "Midgard" (Mali) or "ir3" (Adreno)
  std::string function;  ///< the kernel, as the compiler calls it; empty where it does not say
  int instructions = 0;  ///< as the compiler counts them
  double multiply_adds_per_cycle = 1.0;  ///< of f32, of a core at its best, as cycles are counted
  std::optional<int> threads;    ///< Mali: 2 where so few registers are used that twice as many
                                 ///< work-items fit, 4 on Midgard; else 1
  std::optional<int> registers;  ///< of a work-item: vectors of 4 floats
  std::optional<int> half_registers;  ///< of those, that hold 16 bits a component
  std::optional<int> stalls;  ///< Adreno: cycles that a single wave waits for slow units and memory
  /// Mali: registers stored to memory, and fetched again. Adreno: accesses of a work-item's own
  /// memory, where arrays with an index lie too.
  int spills = 0, fills = 0;
  int loops = 0;
  int prologue = 0;  ///< issue slots before the hot loop, or of all where there is none
  CodeCost all;      ///< one pass from the first instruction to the last
  std::optional<CodeCost> hot_loop;  ///< one turn of the loop with most multiply-adds, else of that
                                     ///< which loads most bytes; loops within it are not counted
};

/// Reads what Mesa's compilers for Mali and Adreno print of each kernel that they build, statistics
/// and machine code (docs/boards.md). They build each kernel twice: for launches with a global
/// offset, then for those without. Nothing for a text without their statistics. Throws ModelError
/// where the machine code is absent or is not as Mesa 25.0 prints it.
[[nodiscard]] MORTON_API std::vector<CompilerStatistics> read_compiler_statistics(
    const std::string& said);

}  // namespace morton
