// SPDX-License-Identifier: Apache-2.0
#include "common/unused_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace morton::cli {

void refuse_unread(const CLI::App& command, const std::vector<std::string>& read,
                   const std::string& reader) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(read, name) != read.end()) continue;
    const std::string advice = read.empty() ? "its own options stand behind it"
                                            : fmt::format("it reads {}", fmt::join(read, ", "));
    throw CLI::ValidationError(
        name, fmt::format("`morton {}` does not read it there; {}", reader, advice));
  }
}

std::vector<std::string> unused_of(const KernelOptions& options, const UsedChoices& used) {
  std::vector<std::string> lines;
  // Steps show "64" for 64x1.
  std::string local = options.local;
  while (local.ends_with("x1")) local.resize(local.size() - 2);
  const auto takes_local = [&](const std::string& work_groups) {
    return (" " + work_groups + ",").find(" " + local + ",") != std::string::npos;
  };
  if (!options.local.empty() && std::ranges::none_of(used.work_groups, takes_local)) {
    lines.push_back(
        fmt::format("--local {}: the work-groups of what is measured are fixed; it changes nothing",
                    options.local));
  }
  const DType precision = parse_dtype(options.precision);
  if (precision != DType::f32 && std::ranges::find(used.stored, precision) == used.stored.end()) {
    lines.push_back(fmt::format(
        "--precision {}: nothing that is measured holds operands so; it changes nothing",
        options.precision));
  }
  return lines;
}

}  // namespace morton::cli
