// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/stopwatch.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/running/findings.hpp"

namespace morton::cli {

/// What all experiments have in common.
struct RunnerOptions {
  std::vector<std::string> device_arguments;  ///< "--device", "0:0"
  std::string cache_dir;                      ///< of those, for commands that take it alone
  double budget_s = 0.0;
  /// Which experiment runs, and which share of the commands is done.
  std::function<void(const std::string& name, double share)> progress = {};
};

/// Runs the commands of experiments, within the time for all of them. Each experiment has a share
/// of it. What is left in the end goes to the commands that their share was too short for. Every
/// command is a process of its own, so a driver's crash loses its cells alone. A command that
/// several experiments need runs once.
class Runner {
 public:
  /// `experiments` must outlive the runner.
  Runner(RunnerOptions options, const std::vector<Experiment>& experiments);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  void run();
  [[nodiscard]] double seconds() const { return watch_.milliseconds() / 1e3; }
  [[nodiscard]] const CommandResults& results() const { return results_; }
  /// What the commands of the i-th experiment took.
  [[nodiscard]] double seconds_of(std::size_t i) const { return parts_.at(i).seconds; }

 private:
  /// How long commands of a column have taken, for the larger ones that follow.
  struct Pace {
    double work = 0.0, seconds = 0.0;
  };
  /// An experiment and what is known of its times.
  struct Part {
    const Experiment* experiment = nullptr;
    std::map<std::size_t, Pace> paces = {};  ///< by column
    double seconds = 0.0;
  };
  /// Which commands a round runs, and until when.
  enum class Round : std::uint8_t {
    by_shares,  ///< those without a result, within their experiment's share of what is left
    shortened,  ///< the same, and those that would not fit with fewer repetitions
    untried,    ///< those that have not run yet, while time is left
    again       ///< also those that took too long, while time is left
  };
  /// For a command: how long it should take at most, and how long it may.
  struct Limits {
    double wanted_s = 0.0, most_s = 0.0;
    Round round = Round::by_shares;
  };

  void run_round(Round round);
  void run_cell(const Cell& cell, const Limits& limits, Part& part);
  [[nodiscard]] CommandResult carry_out(const std::vector<std::string>& arguments,
                                        double timeout_s) const;
  [[nodiscard]] bool lacks_result(const Cell& cell, Round round) const;
  [[nodiscard]] double left_s() const { return options_.budget_s - seconds(); }
  void tell(const Part& part) const;

  RunnerOptions options_;
  std::vector<Part> parts_;
  Stopwatch watch_;
  std::string folder_;  ///< for what commands write; empty: there is none
  CommandResults results_;
};

}  // namespace morton::cli
