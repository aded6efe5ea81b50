// SPDX-License-Identifier: Apache-2.0
#include "reproduce/runner.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reproduce/child_output.hpp"

namespace morton::cli {
namespace {

/// A command that has begun gets so long at least: a first build of a kernel takes a part of it.
constexpr double kLeastTimeoutS = 12.0;
/// A command may end after its experiment's time by this much of it, where the whole allows.
constexpr double kGrace = 0.5;
/// Below this, what a command took is mostly its start.
constexpr double kLeastPaceS = 1.0;

std::string new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "morton-reproduce-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return {};
  return name;
}

/// The last line in which the program says what went wrong.
std::string complaint_in(const std::string& text) {
  std::string found;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    constexpr std::string_view kSpeaker = "morton: ";
    if (line.starts_with(kSpeaker)) found = line.substr(kSpeaker.size());
    begin = end + 1;
  }
  return found;
}

/// Whether a command asks for a device.
bool takes_device(const std::vector<std::string>& arguments) {
  const std::string& command = arguments.front();
  return command != "devices" && command != "layout" && command != "inspect";
}

/// A training's log, one object a line.
Json log_in(const std::filesystem::path& folder) {
  Json lines = Json::array();
  std::ifstream file(folder / "log.jsonl");
  for (std::string line; std::getline(file, line);) {
    Json parsed = Json::parse(line, nullptr, false);
    if (!parsed.is_discarded()) lines.push_back(std::move(parsed));
  }
  return lines;
}

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

/// Says which rows --quick does not ask for: those without a command.
void note_what_quick_leaves_out(Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  std::vector<bool> is_asked(experiment.rows.size()), has_cells(experiment.columns.size());
  for (const Cell& cell : experiment.cells) {
    for (const Place& place : cell.places) is_asked[place.row] = has_cells[place.column] = true;
  }
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < is_asked.size(); ++row) {
    if (is_asked[row]) continue;
    rows.push_back(experiment.rows[row]);
    for (std::size_t column = 0; column < has_cells.size(); ++column) {
      if (has_cells[column] || experiment.cells.empty()) finding.figures[row][column].why = "cut";
    }
  }
  if (rows.empty()) return;
  finding.cuts.push_back(
      fmt::format("--quick leaves out {}: {}", experiment.row_heading, fmt::join(rows, ", ")));
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

/// A command's result, or why there is none.
struct Runner::Result {
  Json report;
  std::string failure;  ///< empty: none
  std::string warning;  ///< a result there is, but the command complains
  bool too_late = false;
  double seconds = 0.0;
};

Runner::Runner(RunnerOptions options, double shares)
    : options_(std::move(options)), shares_left_(shares), folder_(new_folder()) {}

Runner::~Runner() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::unique_ptr<Runner::Result> Runner::carry_out(const std::vector<std::string>& arguments,
                                                  double timeout_s) const {
  std::vector<std::string> words = arguments;
  if (takes_device(arguments)) {
    words.insert(words.end(), options_.device_arguments.begin(), options_.device_arguments.end());
  }
  words.insert(words.end(), {"--format", "json"});
  const std::filesystem::path folder =
      std::filesystem::path(folder_) / std::to_string(results_.size());
  const bool has_folder = std::ranges::find(words, kFolder) != words.end();
  std::ranges::replace(words, std::string(kFolder), folder.string());
  const Stopwatch watch;
  const ChildOutput output = run_child_for(words, timeout_s * 1e3);
  auto result = std::make_unique<Result>();
  result->seconds = watch.milliseconds() / 1e3;
  result->too_late = output.too_late;
  const std::string complaint = complaint_in(output.error);
  const std::string failure = complaint.empty() ? output.how : complaint;
  result->report = Json::parse(output.standard, nullptr, false);
  if (output.too_late) {
    result->failure = fmt::format("it took more than {:.0f} s", timeout_s);
  } else if (result->report.is_discarded()) {
    result->failure = failure;
  } else if (output.status != 0) {
    result->warning = failure;
  }
  if (has_folder) {
    if (result->report.is_object()) result->report["log"] = log_in(folder);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return result;
}

const Runner::Result& Runner::result_of(const std::vector<std::string>& arguments,
                                        double timeout_s) {
  const auto found = results_.find(arguments);
  // What took too long once is tried again only with more time.
  constexpr double kMore = 1.5;
  if (found != results_.end() &&
      (!found->second->too_late || timeout_s < kMore * found->second->seconds)) {
    return *found->second;
  }
  return *results_.insert_or_assign(arguments, carry_out(arguments, timeout_s)).first->second;
}

void Runner::run_cell(const Cell& cell, double deadline_s, std::map<std::size_t, Pace>& paces,
                      Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  const std::string command = command_text(cell.arguments);
  if (std::ranges::find(finding.commands, command) == finding.commands.end()) {
    finding.commands.push_back(command);
  }
  const bool is_known = results_.contains(cell.arguments) && !results_.at(cell.arguments)->too_late;
  const double left_s = deadline_s - seconds();
  Pace& pace = paces[cell.places.empty() ? 0 : cell.places.front().column];
  const double foreseen_s =
      pace.seconds > kLeastPaceS && pace.work > 0.0 ? pace.seconds * cell.work / pace.work : 0.0;
  if (!is_known && (left_s <= 0.0 || foreseen_s > left_s * (1.0 + kGrace))) {
    leave_out(cell, "cut", finding);
    finding.cuts.push_back(
        fmt::format("{}: the time of this experiment is over", names_of_places(cell, experiment)));
    return;
  }
  const double most_s = std::max(options_.budget_s - seconds(), 1.0);
  const double timeout_s = std::max(left_s * (1.0 + kGrace), kLeastTimeoutS);
  const Result& result = result_of(cell.arguments, std::min(timeout_s, most_s));
  const std::string names = names_of_places(cell, experiment);
  if (result.too_late) {
    leave_out(cell, "cut", finding);
    finding.cuts.push_back(fmt::format("{}: {}", names, result.failure));
    pace = {cell.work, std::max(result.seconds, kLeastPaceS * 2.0)};
    return;
  }
  if (!is_known) pace = {cell.work, result.seconds};
  if (!result.failure.empty()) {
    leave_out(cell, "failed", finding);
    finding.failures.push_back(fmt::format("{}: {}", names, result.failure));
    return;
  }
  if (!result.warning.empty()) {
    finding.failures.push_back(fmt::format("{}: {}", names, result.warning));
  }
  fill(cell, result.report, command, finding);
}

Finding Runner::run(const Experiment& experiment) {
  Finding finding;
  finding.experiment = &experiment;
  finding.figures.assign(experiment.rows.size(), std::vector<Figure>(experiment.columns.size()));
  const double begin_s = seconds();
  const double left_s = std::max(options_.budget_s - begin_s, 0.0);
  const double share =
      shares_left_ > 0.0 ? std::min(share_of(experiment) / shares_left_, 1.0) : 1.0;
  shares_left_ -= share_of(experiment);
  std::map<std::size_t, Pace> paces;
  for (const Cell& cell : experiment.cells) {
    run_cell(cell, begin_s + left_s * share, paces, finding);
  }
  if (options_.scale == Scale::quick) note_what_quick_leaves_out(finding);
  finding.seconds = seconds() - begin_s;
  return finding;
}

}  // namespace morton::cli
