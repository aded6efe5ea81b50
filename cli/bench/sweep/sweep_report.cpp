// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/sweep/sweep.hpp"
#include "common/json_values.hpp"

namespace morton::cli {
namespace {

/// More kernels than these make columns too many: they are rows then.
constexpr std::size_t kMostColumns = 6;

constexpr const char* kBudgetWords =
    "With the budget, `cut` has fewer samples than asked for, and `not run` has none.";

/// All kernels of all rows, in the order in which they first stand; those without any figure last.
std::vector<std::string> kernels_of(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const bool measured : {true, false}) {
    for (const SweepRow& row : sweep.rows) {
      for (const SweepCell& cell : row.cells) {
        const bool known = std::ranges::find(names, cell.kernel) != names.end();
        if (cell.figures.has_value() == measured && !known) names.push_back(cell.kernel);
      }
    }
  }
  return names;
}

const char* word_of(SweepCell::Verdict verdict) {
  switch (verdict) {
    case SweepCell::Verdict::right:
      return "right";
    case SweepCell::Verdict::failed:
      return "wrong";
    case SweepCell::Verdict::rejected:
      return "cannot";
    case SweepCell::Verdict::not_run:
      return "not run";
  }
  return "";
}

/// What `text_of` says of each cell that has figures.
template <typename TextOf>
Table table_of(const Sweep& sweep, const TextOf& text_of) {
  std::vector<std::vector<std::string>> cells{{"size"}};
  for (const std::string& kernel : kernels_of(sweep)) cells.front().push_back(kernel);
  for (const SweepRow& row : sweep.rows) {
    std::vector<std::string> line{row.size};
    for (std::size_t i = 1; i < cells.front().size(); ++i) {
      const auto cell = std::ranges::find(row.cells, cells.front()[i], &SweepCell::kernel);
      const bool has_figures = cell != row.cells.end() && cell->figures;
      line.push_back(has_figures               ? text_of(*cell)
                     : cell != row.cells.end() ? word_of(cell->verdict)
                                               : "-");
    }
    cells.push_back(line);
  }
  if (cells.front().size() > kMostColumns + 1) {
    std::vector<std::vector<std::string>> turned(cells.front().size());
    for (const auto& line : cells) {
      for (std::size_t i = 0; i < line.size(); ++i) turned[i].push_back(line[i]);
    }
    turned.front().front() = "kernel";
    cells = std::move(turned);
  }
  Table table;
  for (const std::string& name : cells.front()) {
    table.columns.push_back(
        {name, table.columns.empty() ? Table::Align::left : Table::Align::right});
  }
  table.rows.assign(cells.begin() + 1, cells.end());
  return table;
}

/// Whether any kernel packs, so that its call and its computing steps differ.
bool any_packs(const Sweep& sweep) {
  for (const SweepRow& row : sweep.rows) {
    for (const SweepCell& cell : row.cells) {
      if (cell.about.steps.size() != cell.about.computing.size()) return true;
    }
  }
  return false;
}

/// Whether the budget left any cell with fewer samples, or none.
bool any_cut(const Sweep& sweep) {
  using Verdict = SweepCell::Verdict;
  return std::ranges::any_of(sweep.rows, [](const SweepRow& row) {
    return std::ranges::any_of(row.cells, [](const SweepCell& cell) {
      const bool is_right = cell.verdict == Verdict::right;
      return cell.verdict == Verdict::not_run || (is_right && !cell.why.empty());
    });
  });
}

/// The reasons of all cells that have one, each once with its sizes.
std::string reasons_text(const Sweep& sweep) {
  std::vector<std::pair<std::string, std::string>> reasons;  // "cut: gemm.x: why", sizes
  for (const SweepRow& row : sweep.rows) {
    for (const SweepCell& cell : row.cells) {
      if (cell.why.empty()) continue;
      const bool shortened = cell.verdict == SweepCell::Verdict::right;
      const std::string line = fmt::format("{}: {}: {}", shortened ? "cut" : word_of(cell.verdict),
                                           cell.kernel, cell.why);
      const auto known =
          std::ranges::find(reasons, line, &std::pair<std::string, std::string>::first);
      if (known == reasons.end()) {
        reasons.emplace_back(line, row.size);
      } else {
        known->second += ", " + row.size;
      }
    }
  }
  std::string text;
  for (const auto& [line, sizes] : reasons) text += fmt::format("- {} ({})\n", line, sizes);
  return text;
}

std::string sweep_text(const Sweep& sweep, Format format) {
  const std::string unit = sweep.by_operations ? "GFLOP/s" : "GB/s";
  const auto rate = [&](const Figure& figure) {
    return digits_text(sweep.by_operations ? figure.gflops : figure.gigabytes_per_second);
  };
  std::string text = fmt::format("{} at {} sizes on {}\n", sweep.family, sweep.rows.size(),
                                 sweep.device.description());
  text += "buffers, of the last size: " + sweep.buffers + "\n";
  if (!sweep.budget.empty()) text += "budget of each kernel at each size: " + sweep.budget + "\n";
  const auto add = [&](const std::string& title, const auto& text_of) {
    text += fmt::format("\n{}\n\n{}", title, to_text(table_of(sweep, text_of), format));
  };
  add(unit + ", median of calls, packing included",
      [&](const SweepCell& cell) { return rate(cell.figures->call); });
  if (any_packs(sweep)) {
    add(unit + ", median, without packing", [&](const SweepCell& cell) {
      return cell.figures->alone ? rate(*cell.figures->alone) : "n/a";
    });
  }
  add("ms, median of calls",
      [&](const SweepCell& cell) { return digits_text(cell.figures->call.ms.p50); });
  add(unit + ", mean of calls and its standard error (samples)", [&](const SweepCell& cell) {
    return fmt::format("{} ±{} ({})", digits_text(cell.rate.mean),
                       digits_text(cell.rate.standard_error()), cell.rate.n);
  });
  for (const std::string& line : sweep.above_peak) text += "\nwrong: " + line + "\n";
  const std::string reasons = reasons_text(sweep);
  if (!sweep.budget.empty() && any_cut(sweep)) {
    text += "\n" + std::string(kBudgetWords) + "\n";
  }
  return text + (reasons.empty() ? "" : "\n" + reasons);
}

Json clock_json(const Figure& figure) {
  return {{"median_ms", figure.ms.p50},
          {"iqr_ms", figure.ms.iqr()},
          {"mean_ms", figure.ms.mean},
          {"standard_error_ms", or_null(figure.ms.standard_error())},
          {"min_ms", figure.ms.min},
          {"repetitions", figure.ms.n},
          {"gflops", figure.gflops},
          {"best_gflops", figure.best_gflops},
          {"gigabytes_per_second", figure.gigabytes_per_second}};
}

Json cell_json(const SweepRow& row, const SweepCell& cell, const Sweep& sweep) {
  Json json = {{"size", row.size}};
  json.update(to_json(row.facts));
  json["kernel"] = cell.kernel;
  json["verdict"] = word_of(cell.verdict);
  json["why"] = cell.why;
  json["flop"] = row.flop;
  json["bytes"] = row.bytes;
  if (!cell.figures) {
    json["repetitions"] = 0;
    return json;
  }
  const Figures& figures = *cell.figures;
  json.update(clock_json(figures.call));
  const char* rate = sweep.by_operations ? "gflops" : "gigabytes_per_second";
  json[fmt::format("mean_{}", rate)] = cell.rate.mean;
  json[fmt::format("standard_error_{}", rate)] = or_null(cell.rate.standard_error());
  json["share_of_peak"] = figures.call.share ? Json(*figures.call.share) : Json();
  json["peak_gflops"] = row.peak_gflops ? Json(*row.peak_gflops) : Json();
  json["error"] = cell.error;
  json["kind"] = cell.about.kind == Contender::Kind::kernel ? "kernel" : "peer";
  json["version"] = cell.about.version;
  json["work_group"] = cell.about.work_group;
  json["steps"] = fmt::format("{}", fmt::join(cell.about.steps, " + "));
  json["alone"] = figures.alone ? clock_json(*figures.alone) : Json();
  json["device"] = figures.device ? clock_json(*figures.device) : Json();
  return json;
}

}  // namespace

std::string report_of(const Sweep& sweep, Format format) {
  if (for_people(format)) return sweep_text(sweep, format);
  Json cells = Json::array();
  for (const SweepRow& row : sweep.rows) {
    for (const SweepCell& cell : row.cells) cells.push_back(cell_json(row, cell, sweep));
  }
  if (format != Format::json) return to_text(cells, format);
  Json checked = Json::object();
  for (const SweepRow& row : sweep.rows) checked[row.size] = row.coverage;
  const Json facts = Json::parse(sweep.device.json());
  return to_text(Json{{"family", sweep.family},
                      {"device",
                       {{"id", sweep.device.id()},
                        {"name", sweep.device.name()},
                        {"platform", facts.value("platform", "")},
                        {"driver", facts.value("driver_version", "")}}},
                      {"budget", sweep.budget.empty() ? Json() : Json(sweep.budget)},
                      {"peak_kind", sweep.peak_kind},
                      {"checked", checked},
                      {"above_peak", sweep.above_peak},
                      {"cells", cells}},
                 format);
}

}  // namespace morton::cli
