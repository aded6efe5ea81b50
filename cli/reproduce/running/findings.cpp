// SPDX-License-Identifier: Apache-2.0
#include "reproduce/running/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace morton::cli {
namespace {

constexpr const char* kLeftOut = "left out by --quick";

std::string names_of_places(const Cell& cell, const Experiment& experiment) {
  std::string text;
  for (const Place& place : cell.places) {
    const std::string name =
        experiment.rows[place.row] + ", " + experiment.columns[place.column].name;
    if (text.size() + name.size() > 120) return text + " and more";
    text += (text.empty() ? "" : "; ") + name;
  }
  return text;
}

void fill(const Cell& cell, const Json& report, const std::string& command, Finding& finding) {
  for (const Place& place : cell.places) {
    Figure& figure = finding.figures.at(place.row).at(place.column);
    figure.command = command;
    figure.ours = place.read(report);
    if (!figure.ours) figure.why = "not given";
  }
}

void leave_out(const Cell& cell, const std::string& why, Finding& finding) {
  for (const Place& place : cell.places) {
    Figure& figure = finding.figures.at(place.row).at(place.column);
    if (!figure.ours) figure.why = why;
  }
}

void settle(const Cell& cell, const CommandResults& results, Finding& finding) {
  const auto found = results.find(cell.arguments);
  const bool is_shorter = found != results.end() && !found->second.ran.empty();
  const std::string command = command_text(is_shorter ? found->second.ran : cell.arguments);
  if (std::ranges::find(finding.commands, command) == finding.commands.end()) {
    finding.commands.push_back(command);
  }
  const std::string names = names_of_places(cell, *finding.experiment);
  if (found == results.end()) {
    leave_out(cell, kCut, finding);
    finding.cuts.push_back(fmt::format("{}: {}", names, kNoTime));
    return;
  }
  const CommandResult& result = found->second;
  if (result.too_late) {
    leave_out(cell, kCut, finding);
    finding.cuts.push_back(fmt::format("{}: {}", names, result.failure));
    return;
  }
  if (!result.failure.empty()) {
    leave_out(cell, "failed", finding);
    finding.failures.push_back(fmt::format("{}: {}", names, result.failure));
    return;
  }
  if (!result.warning.empty()) {
    finding.failures.push_back(fmt::format("{}: {}", names, result.warning));
  }
  fill(cell, *result.report, command, finding);
}

/// By row and column, whether a command is to fill the place.
std::vector<std::vector<bool>> asked_places(const Experiment& experiment) {
  std::vector<std::vector<bool>> asked(experiment.rows.size(),
                                       std::vector<bool>(experiment.columns.size()));
  for (const Cell& cell : experiment.cells) {
    for (const Place& place : cell.places) asked.at(place.row).at(place.column) = true;
  }
  return asked;
}

/// Names of the rows or columns of which all that could be asked for is left out.
template <typename IsAt>
std::vector<std::string> whole_lines(const std::vector<std::string>& names, std::size_t across,
                                     const IsAt& is_at) {
  std::vector<std::string> whole;
  for (std::size_t i = 0; i < names.size(); ++i) {
    bool any_left_out = false, any_asked = false;
    for (std::size_t j = 0; j < across; ++j) {
      any_left_out = any_left_out || is_at(i, j, kLeftOut);
      any_asked = any_asked || is_at(i, j, nullptr);
    }
    if (any_left_out && !any_asked) whole.push_back(names[i]);
  }
  return whole;
}

/// Says which numbers the full scale has and this one has not.
void note_what_quick_leaves_out(const Experiment& full, Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const auto asked = asked_places(experiment);
  const auto possible = asked_places(full);
  bool any = false;
  for (std::size_t row = 0; row < asked.size(); ++row) {
    for (std::size_t column = 0; column < asked[row].size(); ++column) {
      if (asked[row][column] || row >= possible.size() || column >= possible[row].size() ||
          !possible[row][column]) {
        continue;
      }
      finding.figures[row][column].why = kLeftOut;
      any = true;
    }
  }
  if (!any) return;
  if (experiment.cells.empty()) {
    finding.left_out.emplace_back("all of it");
    return;
  }
  const auto is_at = [&](std::size_t row, std::size_t column, const char* why) {
    return why == nullptr ? asked[row][column] : finding.figures[row][column].why == why;
  };
  std::vector<std::string> columns;
  for (const Column& column : experiment.columns) columns.push_back(column.name);
  const auto say = [&](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty())
      finding.left_out.push_back(fmt::format("{}: {}", what, fmt::join(names, ", ")));
  };
  say(experiment.row_heading, whole_lines(experiment.rows, columns.size(), is_at));
  say("column", whole_lines(columns, experiment.rows.size(),
                            [&](std::size_t column, std::size_t row, const char* why) {
                              return is_at(row, column, why);
                            }));
  if (finding.left_out.empty()) finding.left_out.emplace_back("some of the numbers");
}

/// What a command would take by the largest one of its column that ended, or nothing.
std::optional<double> foreseen_s(const Experiment& experiment, const Cell& cell,
                                 const CommandResults& results) {
  if (cell.work <= 0.0 || cell.places.empty()) return std::nullopt;
  double work = 0.0, seconds = 0.0;
  for (const Cell& other : experiment.cells) {
    if (other.places.empty() || other.places.front().column != cell.places.front().column) continue;
    const auto found = results.find(other.arguments);
    if (found == results.end() || found->second.too_late || other.work <= work) continue;
    work = other.work;
    seconds = found->second.seconds;
  }
  if (work <= 0.0) return std::nullopt;
  return seconds * std::max(1.0, cell.work / work);
}

}  // namespace

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "morton";
  for (const std::string& argument : arguments) {
    const bool needs_quotes = argument.find_first_of(" '*?;") != std::string::npos;
    text += needs_quotes ? " '" + argument + "'" : " " + argument;
  }
  return text;
}

Finding finding_of(const Experiment& experiment, const CommandResults& results,
                   const Experiment* full) {
  Finding finding;
  finding.experiment = &experiment;
  finding.figures.assign(experiment.rows.size(), std::vector<Figure>(experiment.columns.size()));
  for (const Cell& cell : experiment.cells) settle(cell, results, finding);
  if (full != nullptr) note_what_quick_leaves_out(*full, finding);
  return finding;
}

Shortage shortage_of(const std::vector<Experiment>& experiments, const CommandResults& results) {
  Shortage shortage;
  std::set<std::vector<std::string>> counted;
  double all_s = 0.0;
  for (const auto& [arguments, result] : results) all_s += result.seconds;
  const double mean_s = results.empty() ? 0.0 : all_s / static_cast<double>(results.size());
  for (const Experiment& experiment : experiments) {
    for (const Cell& cell : experiment.cells) {
      const auto found = results.find(cell.arguments);
      if (found != results.end() && !found->second.too_late) continue;
      if (!counted.insert(cell.arguments).second) continue;
      ++shortage.commands;
      const double tried_s = found == results.end() ? 0.0 : found->second.seconds;
      shortage.seconds +=
          std::max(foreseen_s(experiment, cell, results).value_or(mean_s), 1.5 * tried_s);
    }
  }
  return shortage;
}

std::string shortage_text(const Shortage& shortage, double budget_s) {
  if (shortage.commands == 0) return "";
  constexpr double kStepS = 300.0, kReserve = 1.25;
  const double enough_s = kStepS * std::ceil((budget_s + kReserve * shortage.seconds) / kStepS);
  return fmt::format("{} {} cut for want of time; --budget {:.0f}m would probably do.",
                     shortage.commands, shortage.commands == 1 ? "command was" : "commands were",
                     enough_s / 60.0);
}

Outcome outcome_of(const std::vector<Finding>& findings) {
  Outcome outcome;
  for (const Finding& finding : findings) {
    for (const std::vector<Figure>& row : finding.figures) {
      outcome.measured += static_cast<std::size_t>(
          std::ranges::count_if(row, [](const Figure& figure) { return figure.ours.has_value(); }));
    }
    outcome.cut += finding.cuts.size();
    outcome.failed += finding.failures.size();
    if (outcome.first_failure.empty() && !finding.failures.empty()) {
      outcome.first_failure = name_of(*finding.experiment) + ", " + finding.failures.front();
    }
  }
  return outcome;
}

}  // namespace morton::cli
