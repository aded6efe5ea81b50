// SPDX-License-Identifier: Apache-2.0
#include "reproduce/running/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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
  const std::string command = command_text(cell.arguments);
  if (std::ranges::find(finding.commands, command) == finding.commands.end()) {
    finding.commands.push_back(command);
  }
  const std::string names = names_of_places(cell, *finding.experiment);
  const auto found = results.find(cell.arguments);
  if (found == results.end()) {
    leave_out(cell, "cut", finding);
    finding.cuts.push_back(fmt::format("{}: {}", names, kNoTime));
    return;
  }
  const CommandResult& result = found->second;
  if (result.too_late) {
    leave_out(cell, "cut", finding);
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

/// Says which figures the full scale has and this one has not.
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
  if (finding.left_out.empty()) finding.left_out.emplace_back("some of the figures");
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
