// SPDX-License-Identifier: Apache-2.0
//
// Answers that look for the best and the worst, and along a column.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"

namespace morton::cli {
namespace {

/// " in all 6 rows", " in 4 of 6 rows", " at size 256" where `row` alone is known; "" in a table of
/// one row.
std::string rows_text(const Finding& finding, std::size_t some, std::size_t all, std::size_t row) {
  const Experiment& experiment = *finding.experiment;
  if (experiment.rows.size() < 2) return "";
  if (all == 1) return fmt::format(" at {} {}", experiment.row_heading, experiment.rows[row]);
  return some == all ? " " + all_rows_text(all) : fmt::format(" in {} of {} rows", some, all);
}

/// The columns with values, the fastest first.
template <typename ValueAt>
std::vector<std::size_t> order_of(const Experiment& experiment, const ValueAt& value_at) {
  std::vector<std::size_t> order;
  for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
    if (value_at(column)) order.push_back(column);
  }
  const std::string& unit = experiment.columns.front().unit;
  std::ranges::sort(order, [&](std::size_t x, std::size_t y) {
    return times_as_fast(*value_at(x), *value_at(y), unit) > 1.0;
  });
  return order;
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
  [[nodiscard]] std::size_t undecided() const {
    std::size_t won = 0;
    for (const auto& [column, number] : rows) won += number;
    return contested - won;
  }
};

/// Of rows in which as many columns as possible have values. `lead_at` is what the first must have
/// over the second.
template <typename ValueAt, typename LeadAt>
Wins wins_of(const Experiment& experiment, const ValueAt& value_at, const LeadAt& lead_at) {
  std::vector<std::vector<std::size_t>> orders;
  std::size_t most = 0;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    orders.push_back(
        order_of(experiment, [&](std::size_t column) { return value_at(row, column); }));
    most = std::max(most, orders.back().size());
  }
  Wins wins;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const std::vector<std::size_t>& order = orders[row];
    if (most < 2 || order.size() != most) continue;
    ++wins.contested;
    wins.row = row;
    const double lead = times_as_fast(*value_at(row, order[0]), *value_at(row, order[1]),
                                      experiment.columns.front().unit);
    if (lead > 1.0 + lead_at(row, order[0], order[1])) ++wins.rows[order[0]];
  }
  return wins;
}

Wins our_wins(const Finding& finding) {
  return wins_of(
      *finding.experiment,
      [&](std::size_t row, std::size_t column) { return finding.ours(row, column); },
      [&](std::size_t row, std::size_t a, std::size_t b) {
        return least_difference(finding, row, a, b);
      });
}

Wins their_wins(const Finding& finding) {
  return wins_of(
      *finding.experiment,
      [&](std::size_t row, std::size_t column) { return finding.published(row, column); },
      [](std::size_t, std::size_t, std::size_t) { return kLeastDifference; });
}

std::string fastest_text(const Finding& finding, const std::string& said) {
  const Experiment& experiment = *finding.experiment;
  const Wins ours = our_wins(finding);
  if (ours.contested == 0) return "";
  const auto named = [&](const Wins& wins, std::size_t column) {
    return quoted(experiment.columns[column].name) +
           rows_text(finding, wins.rows.at(column), wins.contested, wins.row);
  };
  std::string text = fmt::format("No column is the fastest here by more than the spread{}",
                                 rows_text(finding, ours.contested, ours.contested, ours.row));
  if (const auto first = ours.first()) {
    text = "Fastest here: " + named(ours, *first);
    for (const auto& [column, rows] : ours.rows) {
      if (column == *first) continue;
      text += fmt::format(", {} in {}", quoted(experiment.columns[column].name), rows);
    }
    if (ours.undecided() > 0) {
      text += fmt::format(", in {} nobody by more than the spread", ours.undecided());
    }
  }
  const Wins theirs = their_wins(finding);
  if (const auto first = theirs.first()) {
    text += fmt::format("; in {} {}", source_name(experiment), named(theirs, *first));
  } else if (!said.empty()) {
    text += fmt::format("; {} says {}", source_name(experiment), said);
  }
  return text + ".";
}

std::string slowest_text(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  std::map<std::size_t, std::vector<double>> lost;
  std::size_t rows = 0;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const std::vector<std::size_t> order =
        order_of(experiment, [&](std::size_t column) { return finding.ours(row, column); });
    if (order.size() < 2) continue;
    ++rows;
    lost[order.back()].push_back(times_as_fast(*finding.ours(row, order.front()),
                                               *finding.ours(row, order.back()),
                                               experiment.columns.front().unit));
  }
  if (rows == 0) return "";
  const auto& [column, ratios] =
      *std::ranges::max_element(lost, {}, [](const auto& one) { return one.second.size(); });
  return fmt::format("Slowest here: {}{}; the fastest is {} as fast.",
                     quoted(experiment.columns[column].name),
                     rows_text(finding, ratios.size(), rows, 0), times_text(ratios));
}

/// Rows of a column that have a number of ours.
std::vector<std::size_t> rows_with_numbers(const Finding& finding, std::size_t column) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
    if (finding.ours(row, column)) rows.push_back(row);
  }
  return rows;
}

std::string trend_text(const Finding& finding, const std::string& name) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  const std::vector<std::size_t> measured = rows_with_numbers(finding, column);
  if (measured.empty()) return no_number_text(finding, column);
  if (measured.size() < 2) return "";
  const std::size_t first = measured.front(), last = measured.back();
  const auto shown = [](std::optional<double> value) { return rounded(*value); };
  std::string text =
      fmt::format("From {} {} to {}, {} goes from {} to {} {} here", experiment.row_heading,
                  experiment.rows[first], experiment.rows[last], quoted(name),
                  shown(finding.ours(first, column)), shown(finding.ours(last, column)),
                  experiment.columns[column].unit);
  const auto p = finding.published(first, column), q = finding.published(last, column);
  if (p && q) {
    text += fmt::format(", and from {} to {} in {}", shown(p), shown(q), source_name(experiment));
  }
  return text + ".";
}

/// The row with the most, of rows that have a value.
template <typename ValueAt>
std::optional<std::size_t> highest_row(const Experiment& experiment, const ValueAt& value_at) {
  std::optional<std::size_t> best;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    if (value_at(row) && (!best || *value_at(row) > *value_at(*best))) best = row;
  }
  return best;
}

std::string highest_text(const Finding& finding, const std::string& name) {
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  const auto here =
      highest_row(experiment, [&](std::size_t row) { return finding.ours(row, column); });
  if (!here) return no_number_text(finding, column);
  const std::string& unit = experiment.columns[column].unit;
  std::string text =
      fmt::format("{} is highest at {} {} here, {} {}", quoted(name), experiment.row_heading,
                  experiment.rows[*here], rounded(*finding.ours(*here, column)), unit);
  const auto there =
      highest_row(experiment, [&](std::size_t row) { return finding.published(row, column); });
  if (there) {
    text += fmt::format("; in {} at {}, {} {}", source_name(experiment), experiment.rows[*there],
                        rounded(*finding.published(*there, column)), unit);
  }
  return text + ".";
}

std::string reach_text(const Finding& finding, const std::string& name) {
  constexpr double kNear = 0.9;
  const Experiment& experiment = *finding.experiment;
  const std::size_t column = finding.column(name);
  const std::vector<std::size_t> measured = rows_with_numbers(finding, column);
  if (measured.empty()) return no_number_text(finding, column);
  double most = 0.0;
  for (const std::size_t row : measured) most = std::max(most, *finding.ours(row, column));
  if (measured.size() == 1) {
    return fmt::format("{} does {} {} at {} {} here.", quoted(name), rounded(most),
                       experiment.columns[column].unit, experiment.row_heading,
                       experiment.rows[measured.front()]);
  }
  const auto near = *std::ranges::find_if(
      measured, [&](std::size_t row) { return *finding.ours(row, column) >= kNear * most; });
  return fmt::format("{} does {} {} at most here, and reaches {:.0f} % of that at {} {}.",
                     quoted(name), rounded(most), experiment.columns[column].unit, 100.0 * kNear,
                     experiment.row_heading, experiment.rows[near]);
}

/// "'float16' 8", "'float4' 8 (16 and 32 within the spread)".
std::string best_text(const Finding& finding, std::size_t column) {
  const Experiment& experiment = *finding.experiment;
  const auto best =
      highest_row(experiment, [&](std::size_t row) { return finding.ours(row, column); });
  if (!best || rows_with_numbers(finding, column).size() < 2) return "";
  std::string even;
  for (const std::size_t row : rows_with_numbers(finding, column)) {
    if (row == *best) continue;
    const double lead = *finding.ours(*best, column) / *finding.ours(row, column);
    const double doubt = std::max(
        kLeastDifference, doubt_of(finding, *best, column) + doubt_of(finding, row, column));
    if (lead <= 1.0 + doubt) even += (even.empty() ? "" : ", ") + experiment.rows[row];
  }
  return fmt::format("{} for {}{}", experiment.rows[*best], quoted(experiment.columns[column].name),
                     even.empty() ? "" : fmt::format(" (within the spread of it: {})", even));
}

}  // namespace

Answer fastest_column(const std::string& said) {
  return [=](const Finding& finding) { return fastest_text(finding, said); };
}

Answer slowest_column() { return slowest_text; }

Answer trend(const std::string& column) {
  return [=](const Finding& finding) { return trend_text(finding, column); };
}

Answer highest(const std::string& column) {
  return [=](const Finding& finding) { return highest_text(finding, column); };
}

Answer reaches_its_most(const std::string& column) {
  return [=](const Finding& finding) { return reach_text(finding, column); };
}

Answer best_rows(const std::string& what, const std::string& published) {
  return [=](const Finding& finding) -> std::string {
    std::string text;
    for (std::size_t column = 0; column < finding.experiment->columns.size(); ++column) {
      const std::string best = best_text(finding, column);
      if (!best.empty()) text += (text.empty() ? "" : ", ") + best;
    }
    if (text.empty()) return "";
    return fmt::format("{} here: {}; in {} {}.", what, text, source_name(*finding.experiment),
                       published);
  };
}

}  // namespace morton::cli
