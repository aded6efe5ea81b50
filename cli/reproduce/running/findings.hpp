// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// A command's result, or why there is none.
struct CommandResult {
  std::vector<std::string> ran;  ///< the command, where it ran with fewer repetitions; else empty
  std::shared_ptr<const Json> report;  ///< what it printed; null where that is no JSON
  std::string failure;                 ///< empty: none
  std::string warning;                 ///< a result there is, but the command complains
  bool too_late = false;
  double seconds = 0.0;
};

/// Results by command: tables that have a command in common share them.
using CommandResults = std::map<std::vector<std::string>, CommandResult>;

/// Why a command has not run, or not long enough to say anything.
inline constexpr const char* kNoTime = "no time was left for it";
/// What stands in a cell for which there was no time.
inline constexpr const char* kCut = "cut";

/// What did not fit, and what would have.
struct Shortage {
  std::size_t commands = 0;
  double seconds = 0.0;  ///< that they would take, by what smaller ones of their kind took
};
[[nodiscard]] Shortage shortage_of(const std::vector<Experiment>& experiments,
                                   const CommandResults& results);
/// "28 commands were cut; --budget 40m would probably do."; empty where nothing was.
[[nodiscard]] std::string shortage_text(const Shortage& shortage, double budget_s);

/// "morton bench gemm --m 128": to be typed again.
[[nodiscard]] std::string command_text(const std::vector<std::string>& arguments);

/// The experiment's table, filled from what commands gave. `full` is the same experiment at full
/// scale: what it has more was left out on purpose; null where nothing was.
[[nodiscard]] Finding finding_of(const Experiment& experiment, const CommandResults& results,
                                 const Experiment* full);

/// What the findings amount to.
struct Outcome {
  std::size_t measured = 0, cut = 0, failed = 0;  ///< figures, and entries of their lists
  std::string first_failure;
};
[[nodiscard]] Outcome outcome_of(const std::vector<Finding>& findings);

}  // namespace morton::cli
