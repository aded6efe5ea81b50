// SPDX-License-Identifier: Apache-2.0
#include "reproduce/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/statistics.hpp"

namespace morton::cli {
namespace {

/// Less is no difference, however small the spread: clocks and caches swing as much between runs.
constexpr double kLeastDifference = 0.03;

/// Whether more of the unit is faster.
bool is_rate(const std::string& unit) { return unit.ends_with("/s"); }

/// How many times as fast the first is.
double times_as_fast(double a, double b, const std::string& unit) {
  return is_rate(unit) ? a / b : b / a;
}

/// The share of a figure that may be chance.
double doubt_of(const Finding& finding, std::size_t row, std::size_t column) {
  const std::optional<Reading>& ours = finding.figures[row][column].ours;
  return ours && ours->value != 0.0 ? std::abs(ours->spread / ours->value) : 0.0;
}

/// " in all 6 rows", " in 4 of 6 rows", " at size 256" where `row` alone is known; "" in a table of
/// one row.
std::string rows_text(const Finding& finding, std::size_t some, std::size_t all, std::size_t row) {
  const Experiment& experiment = *finding.experiment;
  if (experiment.rows.size() < 2) return "";
  if (all == 1) return fmt::format(" at {} {}", experiment.row_heading, experiment.rows[row]);
  return some == all ? fmt::format(" in all {} rows", all)
                     : fmt::format(" in {} of {} rows", some, all);
}

/// "1.2 times", "1.0 to 1.4 times".
std::string times_text(const std::vector<double>& ratios) {
  const auto [least, most] = std::ranges::minmax(ratios);
  if (rounded(least) == rounded(most)) return rounded(least) + " times";
  return fmt::format("{} to {} times", rounded(least), rounded(most));
}

/// Two columns, row by row.
struct Duel {
  std::vector<double> ours, published;  ///< how many times as fast the first is
  std::size_t won = 0, lost = 0;        ///< rows of ours beyond the spread of both
  std::size_t row = 0;                  ///< the last of ours
};

Duel duel_of(const Finding& finding, std::size_t first, std::size_t second) {
  const std::string& unit = finding.experiment->columns[first].unit;
  Duel duel;
  for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
    const auto x = finding.ours(row, first), y = finding.ours(row, second);
    if (!x || !y) continue;
    const double ratio = times_as_fast(*x, *y, unit);
    duel.ours.push_back(ratio);
    duel.row = row;
    const double doubt =
        std::max(kLeastDifference, doubt_of(finding, row, first) + doubt_of(finding, row, second));
    duel.won += ratio > 1.0 + doubt ? 1 : 0;
    duel.lost += 1.0 / ratio > 1.0 + doubt ? 1 : 0;
    const auto p = finding.published(row, first), q = finding.published(row, second);
    if (p && q) duel.published.push_back(times_as_fast(*p, *q, unit));
  }
  return duel;
}

std::string verdict_of(const Finding& finding, const Duel& duel) {
  const std::size_t all = duel.ours.size();
  if (duel.won == 0 && duel.lost == 0) return "no difference beyond the spread";
  if (duel.lost == 0) return "faster" + rows_text(finding, duel.won, all, duel.row);
  if (duel.won == 0) return "slower" + rows_text(finding, duel.lost, all, duel.row);
  return fmt::format("faster{} and slower in {}", rows_text(finding, duel.won, all, duel.row),
                     duel.lost);
}

std::string ratio_sentence(const Finding& finding, const std::string& a, const std::string& b,
                           const std::string& said) {
  const Duel duel = duel_of(finding, finding.column(a), finding.column(b));
  if (duel.ours.empty()) return "";
  std::string text = fmt::format("With {} the speed here is {} that with {}: {}", a,
                                 times_text(duel.ours), b, verdict_of(finding, duel));
  const std::string source = source_name(*finding.experiment);
  if (!duel.published.empty()) {
    text += fmt::format("; {} published {}", source, times_text(duel.published));
  } else if (!said.empty()) {
    text += fmt::format("; {} says {}", source, said);
  }
  return text + ".";
}

/// The best column of a row, or nothing where two are as good.
template <typename ValueAt, typename DoubtAt>
std::optional<std::size_t> winner_of(const Experiment& experiment, const ValueAt& value_at,
                                     const DoubtAt& doubt_at) {
  std::vector<std::size_t> order;
  for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
    if (value_at(column)) order.push_back(column);
  }
  if (order.size() < 2) return std::nullopt;
  const std::string& unit = experiment.columns.front().unit;
  std::ranges::sort(order, [&](std::size_t x, std::size_t y) {
    return times_as_fast(*value_at(x), *value_at(y), unit) > 1.0;
  });
  const double lead = times_as_fast(*value_at(order[0]), *value_at(order[1]), unit);
  const double doubt = std::max(kLeastDifference, doubt_at(order[0]) + doubt_at(order[1]));
  if (lead <= 1.0 + doubt) return std::nullopt;
  return order[0];
}

/// Rows that each column wins.
struct Wins {
  std::map<std::size_t, std::size_t> rows;
  std::size_t contested = 0;  ///< rows with two columns or more
  std::size_t row = 0;        ///< the last of them

  [[nodiscard]] std::optional<std::size_t> first() const {
    if (rows.empty()) return std::nullopt;
    return std::ranges::max_element(rows, {}, [](const auto& one) { return one.second; })->first;
  }
};

/// Of rows in which as many columns as possible have values.
template <typename ValueAt, typename DoubtAt>
Wins wins_of(const Experiment& experiment, const ValueAt& value_at, const DoubtAt& doubt_at) {
  std::vector<std::size_t> known(experiment.rows.size(), 0);
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
      known[row] += value_at(row, column) ? 1 : 0;
    }
  }
  const std::size_t most = *std::ranges::max_element(known);
  Wins wins;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    if (most < 2 || known[row] != most) continue;
    ++wins.contested;
    wins.row = row;
    const auto winner = winner_of(
        experiment, [&](std::size_t column) { return value_at(row, column); },
        [&](std::size_t column) { return doubt_at(row, column); });
    if (winner) ++wins.rows[*winner];
  }
  return wins;
}

std::string fastest_text(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const Wins ours = wins_of(
      experiment, [&](std::size_t row, std::size_t column) { return finding.ours(row, column); },
      [&](std::size_t row, std::size_t column) { return doubt_of(finding, row, column); });
  if (ours.contested == 0) return "";
  const auto named = [&](const Wins& wins, std::size_t column) {
    return fmt::format("{}{}", experiment.columns[column].name,
                       rows_text(finding, wins.rows.at(column), wins.contested, wins.row));
  };
  std::string text = "No one is the fastest here by more than the spread";
  if (const auto first = ours.first()) {
    text = "Fastest here: " + named(ours, *first);
    for (const auto& [column, rows] : ours.rows) {
      if (column != *first)
        text += fmt::format(", {} in {}", experiment.columns[column].name, rows);
    }
  }
  const Wins theirs = wins_of(
      experiment,
      [&](std::size_t row, std::size_t column) { return finding.published(row, column); },
      [](std::size_t, std::size_t) { return 0.0; });
  if (const auto first = theirs.first()) {
    text += fmt::format("; in {} {}", source_name(experiment), named(theirs, *first));
  }
  return text + ".";
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
  const auto shown = [](std::optional<double> value) { return rounded(*value); };
  std::string text = fmt::format(
      "From {} {} to {}, {} goes from {} to {} {} here", experiment.row_heading,
      experiment.rows[first], experiment.rows[last], name, shown(finding.ours(first, column)),
      shown(finding.ours(last, column)), experiment.columns[column].unit);
  const auto p = finding.published(first, column), q = finding.published(last, column);
  if (p && q) {
    text += fmt::format(", and from {} to {} in {}", shown(p), shown(q), source_name(experiment));
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
  const std::string source = source_name(experiment);
  if (experiment.rows.size() == 1) {
    return fmt::format("{} takes {} {} here and {} in {}: this device is {} times as fast.", name,
                       rounded(*finding.ours(0, column)), unit,
                       rounded(*finding.published(0, column)), source, rounded(ratios[0]));
  }
  const std::string who =
      experiment.columns.size() == 1 ? "This device" : "With " + name + ", this device";
  return fmt::format("{} is {} times as fast as {}'s (median of {} {}).", who,
                     rounded(median_of(ratios)), source, ratios.size(),
                     ratios.size() == 1 ? "row" : "rows");
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

}  // namespace morton::cli
