// SPDX-License-Identifier: Apache-2.0
// What columns say beside the published ones, and what their sums say.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/statistics.hpp"
#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"

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
  if (sums.rows == 0) return no_number_text(finding, column);
  const std::string& unit = experiment.columns[column].unit;
  return fmt::format("{} takes {} {} here over {} rows, and {} {} in {}: {} times as long there.",
                     what, rounded(sums.first), unit, sums.rows, rounded(sums.second), unit,
                     source_name(experiment), ratio_text(sums.second / sums.first));
}

std::string sums_sentence(const Finding& finding, const std::string& a, const std::string& b) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t first = finding.column(a), second = finding.column(b);
  const Sums ours = sums_of(
      experiment, [&](std::size_t row) { return finding.ours(row, first); },
      [&](std::size_t row) { return finding.ours(row, second); });
  if (ours.rows == 0) return "";
  std::string text =
      fmt::format("Over {} rows {} is {} times as fast as {} here ({} and {} {})", ours.rows,
                  quoted(a), ratio_text(ours.second / ours.first), quoted(b), rounded(ours.first),
                  rounded(ours.second), experiment.columns[first].unit);
  const Sums theirs = sums_of(
      experiment, [&](std::size_t row) { return finding.published(row, first); },
      [&](std::size_t row) { return finding.published(row, second); });
  if (theirs.rows > 0) {
    text += fmt::format("; in {} {} times ({} rows)", source_name(experiment),
                        ratio_text(theirs.second / theirs.first), theirs.rows);
  }
  return text + ".";
}

/// Sums of several columns over the rows that all of them have.
struct ColumnSums {
  std::vector<std::size_t> columns;
  std::vector<double> sums;
  std::size_t rows = 0;

  [[nodiscard]] std::size_t least() const {
    return static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
  }
};

template <typename ValueAt>
ColumnSums column_sums(const Experiment& experiment, const ValueAt& value_at) {
  ColumnSums all;
  for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
    bool any = false;
    for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
      any = any || value_at(row, column);
    }
    if (any) all.columns.push_back(column);
  }
  all.sums.assign(all.columns.size(), 0.0);
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const bool has_all = std::ranges::all_of(
        all.columns, [&](std::size_t column) { return value_at(row, column).has_value(); });
    if (!has_all) continue;
    ++all.rows;
    for (std::size_t i = 0; i < all.columns.size(); ++i) {
      all.sums[i] += *value_at(row, all.columns[i]);
    }
  }
  return all;
}

/// Times that were taken once differ by so much from run to run.
constexpr double kOneRunsNoise = 0.1;

std::string least_sum_text(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const auto name = [&](std::size_t column) { return quoted(experiment.columns[column].name); };
  const ColumnSums ours = column_sums(
      experiment, [&](std::size_t row, std::size_t column) { return finding.ours(row, column); });
  if (ours.columns.size() < 2 || ours.rows == 0) return "";
  std::vector<std::string> least;
  for (std::size_t i = 0; i < ours.columns.size(); ++i) {
    const bool is_near = ours.sums[i] <= (1.0 + kOneRunsNoise) * ours.sums[ours.least()];
    if (is_near) least.push_back(name(ours.columns[i]));
  }
  std::string text = fmt::format("{} {} the least time here over the {} rows that all have{}: ",
                                 fmt::join(least, " and "), least.size() == 1 ? "takes" : "take",
                                 ours.rows, least.size() == 1 ? "" : ", less than 10 % apart");
  for (std::size_t i = 0; i < ours.columns.size(); ++i) {
    text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", name(ours.columns[i]),
                        rounded(ours.sums[i]), experiment.columns[ours.columns[i]].unit);
  }
  const ColumnSums theirs = column_sums(experiment, [&](std::size_t row, std::size_t column) {
    return finding.published(row, column);
  });
  if (theirs.columns.size() > 1 && theirs.rows > 0) {
    text += fmt::format("; in {} {} ({} rows)", source_name(experiment),
                        name(theirs.columns[theirs.least()]), theirs.rows);
  }
  return text + ".";
}

std::string beside_text(const Finding& finding, const std::string& name) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  const std::string& unit = experiment.columns[column].unit;
  std::vector<double> ratios;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const auto ours = finding.ours(row, column), theirs = finding.published(row, column);
    if (ours && theirs) ratios.push_back(times_as_fast(*ours, *theirs, unit));
  }
  if (ratios.empty()) return no_number_text(finding, column);
  const std::string source = source_name(experiment);
  if (experiment.rows.size() == 1) {
    return fmt::format("{} takes {} {} here and {} {} in {}: this device is {} times as fast.",
                       quoted(name), rounded(*finding.ours(0, column)), unit,
                       rounded(*finding.published(0, column)), unit, source, ratio_text(ratios[0]));
  }
  return fmt::format("By {} this device is {} times as fast as {}'s (median of {} {}).",
                     quoted(name), ratio_text(median_of(ratios)), source, ratios.size(),
                     ratios.size() == 1 ? "row" : "rows");
}

}  // namespace

Answer beside_published(const std::string& column) {
  return [=](const Finding& finding) { return beside_text(finding, column); };
}

Answer sum_beside_published(const std::string& column, const std::string& what) {
  return [=](const Finding& finding) { return sum_text(finding, column, what); };
}

Answer speed_ratio_of_sums(const std::string& a, const std::string& b) {
  return [=](const Finding& finding) { return sums_sentence(finding, a, b); };
}

Answer fastest_sum() { return least_sum_text; }

}  // namespace morton::cli
