// SPDX-License-Identifier: Apache-2.0
#include "reproduce/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "bench/published.hpp"
#include "morton/error.hpp"

namespace morton::cli {

std::optional<double> Finding::ours(std::size_t row, std::size_t column) const {
  const std::optional<Reading>& reading = figures.at(row).at(column).ours;
  return reading ? std::optional(reading->value) : std::nullopt;
}

std::optional<double> Finding::published(std::size_t row, std::size_t column) const {
  const std::vector<double>& values = experiment->columns.at(column).published;
  if (row >= values.size() || values[row] == kNotPublished) return std::nullopt;
  return values[row];
}

std::size_t Finding::column(const std::string& name) const {
  for (std::size_t i = 0; i < experiment->columns.size(); ++i) {
    if (experiment->columns[i].name == name) return i;
  }
  throw InternalError(name_of(*experiment) + " has no column " + name);
}

std::string Finding::why_unanswered() const {
  std::set<std::size_t> asked;
  for (const Cell& cell : experiment->cells) {
    for (const Place& place : cell.places) asked.insert(place.row);
  }
  const auto measured = std::ranges::count_if(figures, [](const std::vector<Figure>& row) {
    return std::ranges::any_of(row, [](const Figure& figure) { return figure.ours.has_value(); });
  });
  if (measured != 1 || asked.size() < 2) return "";
  return fmt::format("of {} rows only one was measured.", asked.size());
}

double share_of(const Experiment& experiment) {
  return experiment.cells.empty() ? 0.0 : experiment.share;
}

std::string name_of(const Experiment& experiment) {
  return experiment.source + " " + experiment.id;
}

std::string source_name(const Experiment& experiment) {
  std::string name = experiment.source;
  for (char& letter : name) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return name;
}

}  // namespace morton::cli
