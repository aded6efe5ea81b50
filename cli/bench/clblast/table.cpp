// SPDX-License-Identifier: Apache-2.0
#include "bench/clblast/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/json_values.hpp"

namespace morton::cli {
namespace {

using Routine = ClblastCall::Routine;

bool multiplies(const ClblastCall& call) { return call.flop() > 0.0; }

/// GFLOP/s of a product, else GB/s.
double rate_at(const ClblastRow& row, double ms) {
  return (multiplies(row.call) ? row.call.flop() : row.call.bytes()) / (ms * 1e6);
}

Json clblast_row_json(const ClblastRow& row) {
  const ClblastCall& call = row.call;
  Json json = {{"size", row.size}, {"routine", row.name}};
  if (call.routine == Routine::copy) json["elements"] = call.m;
  if (call.routine == Routine::im2col) {
    json.update({{"channels", call.channels}, {"square", call.square}, {"kernel", call.window}});
  }
  if (multiplies(call)) {
    json.update({{"m", call.m}, {"n", call.n}, {"k", call.k}, {"batch", call.batch}});
  }
  json.update({{"way", row.way}, {"verdict", row.verdict}, {"why", row.why}});
  json.update({{"repetitions", row.ms.n}, {"flop", call.flop()}, {"bytes", call.bytes()}});
  if (row.ms.n == 0) return json;
  json.update({{"median_ms", row.ms.p50},
               {"iqr_ms", row.ms.iqr()},
               {"mean_ms", row.ms.mean},
               {"standard_error_ms", or_null(row.ms.standard_error())},
               {"min_ms", row.ms.min}});
  const char* rate = multiplies(call) ? "gflops" : "gigabytes_per_second";
  json[rate] = rate_at(row, row.ms.p50);
  return json;
}

Table clblast_rows(const ClblastTable& table) {
  using enum Table::Align;
  const bool flop = !table.rows.empty() && multiplies(table.rows.front().call);
  Table text;
  text.columns = {{"size", right},
                  {"routine"},
                  {"ms, median", right},
                  {"iqr", right},
                  {"ms, mean", right},
                  {"±", right},
                  {"samples", right},
                  {flop ? "GFLOP/s" : "GB/s", right},
                  {"way"},
                  {"verdict"}};
  for (const ClblastRow& row : table.rows) {
    const bool measured = row.ms.n > 0;
    const auto digits = [&](std::optional<double> value) {
      return measured && value ? digits_text(value) : "-";
    };
    text.rows.push_back({row.size, row.name, digits(row.ms.p50), digits(row.ms.iqr()),
                         digits(row.ms.mean), digits(row.ms.standard_error()),
                         std::to_string(row.ms.n), digits(rate_at(row, row.ms.p50)), row.way,
                         row.verdict});
  }
  return text;
}

std::string clblast_text(const ClblastTable& table, Format format) {
  std::string text = fmt::format("CLBlast's {} ({}) on {}\n", table.routine, table.library,
                                 table.device.description());
  text += fmt::format("largest allocation: {}\n", bytes_text(table.largest_allocation));
  if (!table.budget.empty()) text += "budget of each row: " + table.budget + "\n";
  text += "\n" + to_text(clblast_rows(table), format);
  if (table.fit) {
    text +=
        fmt::format("\nT(x) = {} us * x + {} us, by least squares over the medians, R^2 {:.3f}\n",
                    digits_text(table.fit->slope_us), digits_text(table.fit->start_us),
                    table.fit->determination);
  }
  if (table.least_indirect) {
    text += fmt::format("\nxGEMM copies operands from squares of {} on; smaller ones are direct\n",
                        *table.least_indirect);
  }
  const bool any_cut =
      std::ranges::any_of(table.rows, [](const ClblastRow& row) { return row.verdict == "cut"; });
  if (any_cut) text += "\nWith the budget, `cut` has fewer samples than asked for.\n";
  for (const ClblastRow& row : table.rows) {
    if (row.why.empty()) continue;
    text += fmt::format("\n- {} {}: {}", row.name, row.size, row.why);
  }
  return text + (text.back() == '\n' ? "" : "\n");
}

}  // namespace

std::optional<ClblastFit> fit_of(const std::vector<ClblastRow>& rows) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (const ClblastRow& row : rows) {
    if (row.ms.n == 0) continue;
    const auto size = static_cast<double>(row.call.m);
    const double us = 1e3 * row.ms.p50;
    n += 1.0;
    x += size;
    y += us;
    xx += size * size;
    xy += size * us;
    yy += us * us;
  }
  const double spread = n * xx - x * x;
  if (n < 2.0 || spread <= 0.0) return std::nullopt;
  ClblastFit fit;
  fit.slope_us = (n * xy - x * y) / spread;
  fit.start_us = (y - fit.slope_us * x) / n;
  const double variance = n * yy - y * y;
  fit.determination = variance > 0.0 ? fit.slope_us * fit.slope_us * spread / variance : 1.0;
  return fit;
}

std::string report_of(const ClblastTable& table, Format format) {
  if (for_people(format)) return clblast_text(table, format);
  Json rows = Json::array();
  for (const ClblastRow& row : table.rows) rows.push_back(clblast_row_json(row));
  if (format != Format::json) return to_text(rows, format);
  Json json = {{"routine", table.routine},
               {"library", table.library},
               {"device", {{"id", table.device.id()}, {"name", table.device.name()}}},
               {"max_allocation_bytes", table.largest_allocation},
               {"budget", table.budget.empty() ? Json() : Json(table.budget)}};
  json["fit"] = Json();
  if (table.fit) {
    json["fit"] = {{"slope_us_per_element", table.fit->slope_us},
                   {"intercept_us", table.fit->start_us},
                   {"r_squared", table.fit->determination}};
  }
  json["least_indirect"] = table.least_indirect ? Json(*table.least_indirect) : Json();
  json["rows"] = rows;
  return to_text(json, format);
}

}  // namespace morton::cli
