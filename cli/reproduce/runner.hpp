// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/stopwatch.hpp"
#include "reproduce/experiment.hpp"

namespace morton::cli {

/// What all experiments have in common.
struct RunnerOptions {
  std::vector<std::string> device_arguments;  ///< "--device", "0:0"
  double budget_s = 0.0;
  Scale scale = Scale::full;
};

/// Runs experiments one after the other, each within its share of the time that is left. Every
/// command is a process of its own, so a driver's crash loses its cells alone. A command that
/// several experiments need runs once.
class Runner {
 public:
  /// `shares`: the sum of those of all experiments that will be run.
  Runner(RunnerOptions options, double shares);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  [[nodiscard]] Finding run(const Experiment& experiment);
  [[nodiscard]] double seconds() const { return watch_.milliseconds() / 1e3; }

 private:
  struct Result;
  /// How long commands of a column have taken, for the larger ones that follow.
  struct Pace {
    double work = 0.0, seconds = 0.0;
  };

  [[nodiscard]] const Result& result_of(const std::vector<std::string>& arguments,
                                        double timeout_s);
  [[nodiscard]] std::unique_ptr<Result> carry_out(const std::vector<std::string>& arguments,
                                                  double timeout_s) const;
  void run_cell(const Cell& cell, double deadline_s, std::map<std::size_t, Pace>& paces,
                Finding& finding);

  RunnerOptions options_;
  double shares_left_;
  Stopwatch watch_;
  std::string folder_;  ///< for what commands write; empty: there is none
  std::map<std::vector<std::string>, std::unique_ptr<Result>> results_;  ///< by command
};

/// "morton bench gemm --m 128": to be typed again.
[[nodiscard]] std::string command_text(const std::vector<std::string>& arguments);

}  // namespace morton::cli
