// SPDX-License-Identifier: Apache-2.0
#include "reproduce/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/statistics.hpp"

namespace morton::cli {
namespace {

/// Whether more of the unit is faster.
bool is_rate(const std::string& unit) { return unit.ends_with("/s"); }

/// How many times as fast the first is.
double times_as_fast(double a, double b, const std::string& unit) {
  return is_rate(unit) ? a / b : b / a;
}

std::string at_row(const Finding& finding, std::size_t row) {
  const Experiment& experiment = *finding.experiment;
  if (experiment.rows.size() < 2) return "";
  return fmt::format(" ({} {})", experiment.row_heading, experiment.rows[row]);
}

/// The published or measured values of a row; its best column and value.
struct BestColumn {
  std::size_t column = 0, number = 0;  ///< number: of columns that have a value
  double value = 0.0;
};

template <typename ValueAt>
BestColumn best_column(const Finding& finding, const ValueAt& value_at) {
  BestColumn best;
  for (std::size_t column = 0; column < finding.experiment->columns.size(); ++column) {
    const std::optional<double> value = value_at(column);
    if (!value) continue;
    const bool is_better =
        best.number == 0 ||
        times_as_fast(*value, best.value, finding.experiment->columns[column].unit) > 1.0;
    ++best.number;
    if (!is_better) continue;
    best.column = column;
    best.value = *value;
  }
  return best;
}

std::string fastest_text(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  BestColumn best;
  std::size_t best_row = 0;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const BestColumn here =
        best_column(finding, [&](std::size_t column) { return finding.ours(row, column); });
    if (here.number == 0 || here.number < best.number) continue;
    best = here;
    best_row = row;
  }
  if (best.number < 2) return "";
  const BestColumn theirs =
      best_column(finding, [&](std::size_t column) { return finding.published(best_row, column); });
  std::string text = fmt::format("The fastest of {} here is {}, at {} {}{}", best.number,
                                 experiment.columns[best.column].name, digits_text(best.value),
                                 experiment.columns[best.column].unit, at_row(finding, best_row));
  if (theirs.number > 1) {
    text += fmt::format("; {} published {}, at {}", source_name(experiment),
                        experiment.columns[theirs.column].name, digits_text(theirs.value));
  }
  return text + ".";
}

std::string ratio_sentence(const Finding& finding, const std::string& a, const std::string& b,
                           const std::string& said) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t first = finding.column(a), second = finding.column(b);
  const std::string& unit = experiment.columns[first].unit;
  for (std::size_t row = experiment.rows.size(); row-- > 0;) {
    const auto x = finding.ours(row, first), y = finding.ours(row, second);
    if (!x || !y) continue;
    std::string text = fmt::format("Here {} is {} times as fast as {}{}", a,
                                   rounded(times_as_fast(*x, *y, unit)), b, at_row(finding, row));
    const auto p = finding.published(row, first), q = finding.published(row, second);
    const std::string source = source_name(experiment);
    if (p && q) {
      text += fmt::format("; {} published {} times", source, rounded(times_as_fast(*p, *q, unit)));
    } else if (!said.empty()) {
      text += fmt::format("; {} says {}", source, said);
    }
    return text + ".";
  }
  return "";
}

std::string trend_text(const Finding& finding, const std::string& name) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  std::vector<std::size_t> measured;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    if (finding.ours(row, column)) measured.push_back(row);
  }
  if (measured.size() < 2) return "";
  const std::size_t first = measured.front(), last = measured.back();
  std::string text =
      fmt::format("Here {} goes from {} to {} {} as {} goes from {} to {}", name,
                  digits_text(finding.ours(first, column)), digits_text(finding.ours(last, column)),
                  experiment.columns[column].unit, experiment.row_heading, experiment.rows[first],
                  experiment.rows[last]);
  const auto p = finding.published(first, column), q = finding.published(last, column);
  if (p && q) {
    text += fmt::format("; in {} from {} to {}", source_name(experiment), digits_text(p),
                        digits_text(q));
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
  if (ratios.empty()) return "";
  return fmt::format("By the column {} this device is {} times as fast as {}'s (median of {} {}).",
                     name, rounded(median_of(ratios)), source_name(experiment), ratios.size(),
                     ratios.size() == 1 ? "row" : "rows");
}

std::string sum_text(const Finding& finding, const std::string& name, const std::string& what) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  double ours = 0.0, theirs = 0.0;
  std::size_t rows = 0;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const auto a = finding.ours(row, column), b = finding.published(row, column);
    if (!a || !b) continue;
    ours += *a;
    theirs += *b;
    ++rows;
  }
  if (rows == 0) return "";
  return fmt::format("{} takes {} {} here over {} rows, and {} in {}: a ratio of {}.", what,
                     digits_text(ours), experiment.columns[column].unit, rows, digits_text(theirs),
                     source_name(experiment), rounded(theirs / ours));
}

}  // namespace

std::string rounded(double value) {
  if (!std::isfinite(value)) return "n/a";
  if (value == 0.0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::max(0, 1 - digits));
}

Answer all_of(std::vector<Answer> answers) {
  return [answers = std::move(answers)](const Finding& finding) {
    std::string text;
    for (const Answer& answer : answers) {
      const std::string sentence = answer(finding);
      if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
    }
    return text;
  };
}

Answer speed_ratio(const std::string& a, const std::string& b, const std::string& said) {
  return [=](const Finding& finding) { return ratio_sentence(finding, a, b, said); };
}

Answer fastest_column() { return fastest_text; }

Answer trend(const std::string& column) {
  return [=](const Finding& finding) { return trend_text(finding, column); };
}

Answer beside_published(const std::string& column) {
  return [=](const Finding& finding) { return beside_text(finding, column); };
}

Answer sum_beside_published(const std::string& column, const std::string& what) {
  return [=](const Finding& finding) { return sum_text(finding, column, what); };
}

}  // namespace morton::cli
