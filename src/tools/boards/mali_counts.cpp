// SPDX-License-Identifier: Apache-2.0
#include "tools/boards/machine_code.hpp"
#include "tools/boards/printed_text.hpp"

namespace morton::tools {

CompilerStatistics read_mali_counts(const PrintedKernel& kernel, const std::string& compiler) {
  CompilerStatistics statistics;
  statistics.compiler = compiler;
  statistics.function = kernel.function;
  int threads = 0;
  if (!read_count(kernel.counts, "inst", statistics.instructions) ||
      !read_count(kernel.counts, "threads", threads) ||
      !read_count(kernel.counts, "loops", statistics.loops)) {
    not_understood(compiler, kernel.counts);
  }
  statistics.threads = threads;
  int registers = 0;
  if (read_count(kernel.counts, "registers", registers)) statistics.registers = registers;
  // "..., 4 loops, 2:16 spills:fills"
  const std::string_view spills = behind_last(kernel.counts, "loops, ");
  const std::size_t colon = spills.find(':');
  if (colon == std::string_view::npos || !read_number(spills, statistics.spills) ||
      !read_number(spills.substr(colon + 1), statistics.fills)) {
    not_understood(compiler, kernel.counts);
  }
  return statistics;
}

}  // namespace morton::tools
