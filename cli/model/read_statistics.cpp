// SPDX-License-Identifier: Apache-2.0
#include "model/read_statistics.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/output.hpp"
#include "model/statistics_report.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

std::string count_text(const std::optional<int>& count) {
  return count ? std::to_string(*count) : "-";
}

}  // namespace

int read_statistics(const std::string& path, const ResultOptions& result) {
  const auto all = read_compiler_statistics(read_text(path));
  if (all.empty()) {
    throw ModelError(path + ": holds no statistics of a board's compiler");
  }
  using enum Table::Align;
  Table table;
  table.columns = {{"compiler"},         {"function"},
                   {"instr", right},     {"threads", right},
                   {"registers", right}, {"spills:fills", right},
                   {"prologue", right},  {"multiply-adds", right},
                   {"efficiency", right}};
  Json json = Json::array();
  for (const CompilerStatistics& one : all) {
    const CodeCost& turn = one.hot_loop ? *one.hot_loop : one.all;
    table.rows.push_back({one.compiler, one.function.empty() ? "-" : one.function,
                          std::to_string(one.instructions), count_text(one.threads),
                          count_text(one.registers), fmt::format("{}:{}", one.spills, one.fills),
                          std::to_string(one.prologue), std::to_string(turn.multiply_adds),
                          turn.multiply_adds > 0 ? fmt::format("{:.2f}", turn.efficiency()) : "-"});
    json.push_back(statistics_json(one));
  }
  emit(for_people(result.format) ? to_text(table, result.format) : to_text(json, result.format),
       result.path);
  return 0;
}

}  // namespace morton::cli
