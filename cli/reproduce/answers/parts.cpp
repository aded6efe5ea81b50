// SPDX-License-Identifier: Apache-2.0
#include "reproduce/answers/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace morton::cli {

std::string rounded(double value) {
  if (!std::isfinite(value)) return "n/a";
  if (value == 0.0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::max(0, 1 - digits));
}

std::string ratio_text(double ratio) {
  if (ratio >= 0.9 && ratio < 0.9995) return fmt::format("{:.3f}", ratio);
  if (ratio >= 0.9995 && ratio < 1.5) return fmt::format("{:.2f}", ratio);
  return rounded(ratio);
}

std::string times_text(const std::vector<double>& ratios) {
  const auto [least, most] = std::ranges::minmax(ratios);
  if (ratio_text(least) == ratio_text(most)) return ratio_text(least) + " times";
  return fmt::format("{} to {} times", ratio_text(least), ratio_text(most));
}

std::string quoted(const std::string& name) {
  const char* mark = name.find('\'') == std::string::npos ? "'" : "\"";
  return mark + name + mark;
}

std::string all_rows_text(std::size_t rows) {
  return rows == 2 ? "in both rows" : fmt::format("in all {} rows", rows);
}

double times_as_fast(double a, double b, const std::string& unit) {
  return unit.ends_with("/s") ? a / b : b / a;
}

double doubt_of(const Finding& finding, std::size_t row, std::size_t column) {
  const std::optional<Reading>& ours = finding.figures[row][column].ours;
  return ours && ours->value != 0.0 ? std::abs(ours->spread / ours->value) : 0.0;
}

double least_difference(const Finding& finding, std::size_t row, std::size_t a, std::size_t b) {
  return std::max(kLeastDifference, doubt_of(finding, row, a) + doubt_of(finding, row, b));
}

bool has_numbers(const Finding& finding, std::size_t column) {
  return std::ranges::any_of(finding.figures,
                             [&](const auto& row) { return row[column].ours.has_value(); });
}

std::string why_empty(const Finding& finding, std::size_t column) {
  for (const auto& row : finding.figures) {
    if (!row[column].why.empty()) return row[column].why;
  }
  return "";
}

std::string no_number_text(const Finding& finding, std::size_t column) {
  const std::string why = why_empty(finding, column);
  return fmt::format("Not answered here: {} has no number{}.",
                     quoted(finding.experiment->columns[column].name),
                     why.empty() ? "" : " (" + why + ")");
}

}  // namespace morton::cli
