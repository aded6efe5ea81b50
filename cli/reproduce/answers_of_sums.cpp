// SPDX-License-Identifier: Apache-2.0
// What the sums of columns say.
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers.hpp"

namespace morton::cli {
namespace {

/// Sums of two figures over the rows that have both.
struct Sums {
  double first = 0.0, second = 0.0;
  std::size_t rows = 0;
};

template <typename First, typename Second>
Sums sums_of(const Experiment& experiment, const First& first, const Second& second) {
  Sums sums;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const std::optional<double> a = first(row), b = second(row);
    if (!a || !b) continue;
    sums.first += *a;
    sums.second += *b;
    ++sums.rows;
  }
  return sums;
}

std::string sum_text(const Finding& finding, const std::string& name, const std::string& what) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  const Sums sums = sums_of(
      experiment, [&](std::size_t row) { return finding.ours(row, column); },
      [&](std::size_t row) { return finding.published(row, column); });
  if (sums.rows == 0) return "";
  return fmt::format("{} takes {} {} here over {} rows, and {} in {}: {} times as long there.",
                     what, rounded(sums.first), experiment.columns[column].unit, sums.rows,
                     rounded(sums.second), source_name(experiment),
                     rounded(sums.second / sums.first));
}

std::string sums_sentence(const Finding& finding, const std::string& a, const std::string& b) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t first = finding.column(a), second = finding.column(b);
  const Sums ours = sums_of(
      experiment, [&](std::size_t row) { return finding.ours(row, first); },
      [&](std::size_t row) { return finding.ours(row, second); });
  if (ours.rows == 0) return "";
  std::string text =
      fmt::format("Over {} rows {} is {} times as fast as {} here ({} and {} {})", ours.rows, a,
                  rounded(ours.second / ours.first), b, rounded(ours.first), rounded(ours.second),
                  experiment.columns[first].unit);
  const Sums theirs = sums_of(
      experiment, [&](std::size_t row) { return finding.published(row, first); },
      [&](std::size_t row) { return finding.published(row, second); });
  if (theirs.rows > 0) {
    text += fmt::format("; in {} {} times ({} rows)", source_name(experiment),
                        rounded(theirs.second / theirs.first), theirs.rows);
  }
  return text + ".";
}

}  // namespace

Answer sum_beside_published(const std::string& column, const std::string& what) {
  return [=](const Finding& finding) { return sum_text(finding, column, what); };
}

Answer speed_ratio_of_sums(const std::string& a, const std::string& b) {
  return [=](const Finding& finding) { return sums_sentence(finding, a, b); };
}

Answer fastest_sum() {
  return [](const Finding& finding) -> std::string {
    const Experiment& experiment = *finding.experiment;
    std::vector<std::size_t> columns;
    for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
      const bool measured = std::ranges::any_of(
          finding.figures, [&](const auto& row) { return row[column].ours.has_value(); });
      if (measured) columns.push_back(column);
    }
    std::vector<double> sums(columns.size(), 0.0);
    std::size_t rows = 0;
    for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
      const bool has_all = std::ranges::all_of(
          columns, [&](std::size_t column) { return finding.ours(row, column).has_value(); });
      if (!has_all) continue;
      ++rows;
      for (std::size_t i = 0; i < columns.size(); ++i) sums[i] += *finding.ours(row, columns[i]);
    }
    if (columns.size() < 2 || rows == 0) return "";
    const auto best = static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
    std::string text = fmt::format("{} takes the least time here over the {} rows that all have: ",
                                   experiment.columns[columns[best]].name, rows);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", experiment.columns[columns[i]].name,
                          rounded(sums[i]), experiment.columns[columns[i]].unit);
    }
    return text + ".";
  };
}

}  // namespace morton::cli
