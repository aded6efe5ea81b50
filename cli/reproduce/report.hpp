// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// What stands above all tables.
struct ReportHead {
  std::string version;  ///< "0.1.0, commit 1a2b3c4"
  std::string device;
  std::string date;
  Scale scale = Scale::full;
  double budget_s = 0.0, seconds = 0.0;
  std::string shortage = {};  ///< what did not fit, in a sentence; empty: all did
};

/// A report in any format. json is one object, jsonl has one experiment on each line, csv one
/// number.
[[nodiscard]] std::string report_of(const ReportHead& head, const std::vector<Finding>& findings,
                                    Format format);
/// json, jsonl and csv.
[[nodiscard]] std::string program_text_of(const ReportHead& head,
                                          const std::vector<Finding>& findings, Format format);
[[nodiscard]] Json to_json(const ReportHead& head, const std::vector<Finding>& findings);

/// The experiments without their results: what there is to ask.
[[nodiscard]] std::string list_of(const std::vector<Experiment>& experiments, Format format);

/// What all reports say of themselves.
inline constexpr const char* kWhatItIs =
    "Five documents measured matrix products and networks on GPUs of boards and phones. Here their "
    "experiments are repeated on this device. A column \"here\" is of this device, the one beside "
    "it what the source published. A number without a clock's name is of a kernel alone, or of a "
    "whole call where nothing is packed. Two numbers differ where they do so by more than 3 % and "
    "by more than both spreads (±) together, each in per cent of its number. "
    "What is closer is \"within the spread\".";

/// How it is measured, with the repetitions.
[[nodiscard]] std::string measured_text(const Finding& finding);
/// The answer, or that there is none.
[[nodiscard]] std::string answer_of(const Finding& finding);
/// A table with our numbers beside the published ones.
[[nodiscard]] Table table_of(const Finding& finding);
/// Some of an experiment's commands, and how many more there are.
[[nodiscard]] std::vector<std::string> shown_commands(const Finding& finding);
/// "2 of 9 sizes ...": what was left out, in one line each.
[[nodiscard]] std::vector<std::string> shown_cuts(const Finding& finding);

}  // namespace morton::cli
