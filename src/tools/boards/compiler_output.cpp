// SPDX-License-Identifier: Apache-2.0
//
// Cuts what Mesa's compilers print into kernels. With the words that docs/boards.md names they
// print, for each build of a kernel, its intermediate form, then the machine code, then statistics.
#include <string>

#include "morton/tools/compiler_statistics.hpp"
#include "tools/boards/machine_code.hpp"
#include "tools/boards/printed_text.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr std::string_view kMaliCounts = "SHADER-DB: ";
constexpr std::string_view kAdrenoMark = "MESA: info: ";
constexpr std::string_view kAdrenoCode = "Native code for ";
constexpr std::string_view kAdrenoCounts = "; CL prog ";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (lines.back().starts_with(kAdrenoMark)) lines.back().remove_prefix(kAdrenoMark.size());
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

/// The kernel's name: "decl_function __wrapped_NAME () (entrypoint)".
void read_function(std::string_view line, std::string& function) {
  constexpr std::string_view kMark = "decl_function ", kWrapped = "__wrapped_";
  if (!line.starts_with(kMark)) return;
  std::string_view name = before(line.substr(kMark.size()), " ");
  if (name.starts_with(kWrapped)) name.remove_prefix(kWrapped.size());
  function = name;
}

CompilerStatistics read_mali(const PrintedKernel& kernel) {
  if (kernel.counts.find(" bundles") != std::string::npos) return read_midgard(kernel);
  if (kernel.counts.find(" tuples") != std::string::npos) return read_bifrost(kernel);
  return read_valhall(kernel);
}

/// A Mali's machine code is what follows the last brace of the intermediate form. Bifrost's has
/// braces of its own and begins with clause 0.
CompilerStatistics read_mali_between(const std::vector<std::string_view>& lines, std::size_t begin,
                                     std::size_t counts, const std::string& function) {
  PrintedKernel kernel;
  kernel.function = function;
  kernel.counts = trimmed(lines[counts].substr(kMaliCounts.size()));
  std::size_t first = counts;
  const bool has_clauses = kernel.counts.find(" clauses") != std::string::npos;
  while (first > begin) {
    if (has_clauses ? lines[first] == "clause_0:" : lines[first - 1].starts_with("}")) break;
    --first;
  }
  kernel.lines.assign(lines.begin() + static_cast<std::ptrdiff_t>(first),
                      lines.begin() + static_cast<std::ptrdiff_t>(counts));
  return read_mali(kernel);
}

}  // namespace

std::vector<CompilerStatistics> read_compiler_statistics(const std::string& said) {
  const std::vector<std::string_view> lines = lines_of(said);
  std::vector<CompilerStatistics> kernels;
  std::string function;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    read_function(lines[i], function);
    if (lines[i].starts_with(kMaliCounts)) {
      kernels.push_back(read_mali_between(lines, begin, i, function));
      begin = i + 1;
    } else if (lines[i].starts_with(kAdrenoCode)) {
      begin = i + 1;
    } else if (lines[i].starts_with(kAdrenoCounts)) {
      PrintedKernel kernel;
      kernel.function = function;
      kernel.lines.assign(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                          lines.begin() + static_cast<std::ptrdiff_t>(i));
      for (; i < lines.size() && lines[i].starts_with(kAdrenoCounts); ++i) {
        const std::string_view counts = lines[i].substr(lines[i].find(": ") + 2);
        kernel.counts += (kernel.counts.empty() ? "" : ", ") + std::string(counts);
      }
      kernels.push_back(read_adreno(kernel));
      begin = i;
      --i;  // the line behind the counts is the next one
    }
  }
  return kernels;
}

}  // namespace morton
