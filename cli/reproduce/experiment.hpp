// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/output.hpp"

namespace morton::cli {

/// One number, measured.
struct Reading {
  double value = 0.0;
  double spread = 0.0;  ///< interquartile range, in the value's unit; 0 where none is known
  std::int64_t repetitions = 0;  ///< 0: a fact that nobody repeats
  std::string mark = {};         ///< behind it, in brackets: "guess"
};

/// Takes a number from what a command printed as JSON; nothing where it is not there.
using Reader = std::function<std::optional<Reading>(const Json& report)>;

/// What is known of a source's number.
enum class Origin : std::uint8_t {
  published,
  derived,        ///< computed from other published numbers
  not_available,  ///< the source has it, but our copy has lost its values
  none            ///< the source has none
};

struct Column {
  std::string name;  ///< "RM x CM"
  std::string unit;  ///< "GFLOP/s"
  Origin origin = Origin::none;
  std::vector<double> published = {};  ///< one for each row, kNotPublished where there is none
  std::vector<double> spreads = {};    ///< the source's "+-", likewise
};

/// Where a number stands in a table.
struct Place {
  std::size_t row = 0, column = 0;
  Reader read;
};

/// A command of this program, and what is read from its result.
struct Cell {
  std::vector<std::string> arguments;  ///< kFolder stands for a folder that is thrown away
  std::vector<Place> places;
  double work = 0.0;  ///< operations of a run: it foretells the time of larger ones
};

inline constexpr const char* kFolder = "FOLDER";

struct Finding;
/// Says what the measured numbers mean, in sentences; "" where they say nothing.
using Answer = std::function<std::string(const Finding&)>;

/// An experiment of a source: what it asked, how it is repeated here, and what it published.
struct Experiment {
  std::string source = {};    ///< "r17"
  std::string id = {};        ///< "table-7.1"
  std::string where = {};     ///< "section 7.1.1, table 7.1"
  std::string title = {};     ///< for a list
  std::string question = {};  ///< in words that need no knowledge of the source
  std::string method = {};    ///< how it is measured here
  std::string row_heading = {};
  std::vector<std::string> rows = {};
  std::vector<Column> columns = {};
  std::vector<Cell> cells = {};         ///< most important first
  std::string published = {};           ///< what of the source is known beside the table
  std::vector<std::string> notes = {};  ///< errata, and what differs
  Answer answer = {};
  double share = 1.0;  ///< of the time, beside other experiments
};

/// One place of a table, filled or not.
struct Figure {
  std::optional<Reading> ours;
  std::string why;  ///< of a number that is missing: "cut", "failed", "left out by --quick", ...
  std::string command;  ///< that measured it
};

/// An experiment, carried out.
struct Finding {
  const Experiment* experiment = nullptr;
  std::vector<std::vector<Figure>> figures;  ///< by row and column
  std::vector<std::string> commands;         ///< each once
  std::vector<std::string> cuts;             ///< what the time did not allow, and why
  std::vector<std::string> left_out;         ///< what --quick does not ask for
  std::vector<std::string> failures;         ///< what did not work, and why
  double seconds = 0.0;

  [[nodiscard]] std::optional<double> ours(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::optional<double> published(std::size_t row, std::size_t column) const;
  /// The index of a column by its name. Throws InternalError.
  [[nodiscard]] std::size_t column(const std::string& name) const;
  /// Why what is there answers nothing: of several rows the time, or a failure, has left one. Empty
  /// where it may answer.
  [[nodiscard]] std::string why_unanswered() const;
};

/// How much is measured.
enum class Scale : std::uint8_t { quick, full };

/// Its share of the time; 0 where it has no command.
[[nodiscard]] double share_of(const Experiment& experiment);
/// "r17 table-7.1"
[[nodiscard]] std::string name_of(const Experiment& experiment);
/// "R17"
[[nodiscard]] std::string source_name(const Experiment& experiment);

}  // namespace morton::cli
