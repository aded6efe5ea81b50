// SPDX-License-Identifier: Apache-2.0
#include "reproduce/running/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reproduce/running/child_output.hpp"

namespace morton::cli {
namespace {

/// A command that has begun gets so long at least: a first build of a kernel takes a part of it.
constexpr double kLeastTimeoutS = 12.0;
/// A command may end after its experiment's time by this much of it, where the whole allows.
constexpr double kGrace = 0.5;
/// What two repetitions take of five, with the check of the result before them.
constexpr double kShareOfFewer = 0.6;
/// Below this, what a command took is mostly its start.
constexpr double kLeastPaceS = 1.0;

std::string new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "morton-reproduce-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return {};
  return name;
}

/// The last line in which the program says what went wrong. Where that line announces reasons, the
/// first of them follows.
std::string complaint_in(const std::string& text) {
  constexpr std::string_view kSpeaker = "morton: ";
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool announced = found.ends_with(':') && line.starts_with("  ");
    if (line.starts_with(kSpeaker)) {
      found = line.substr(kSpeaker.size());
    } else if (announced) {
      found += " " + line.substr(line.find_first_not_of(' '));
    }
  }
  return found;
}

/// Whether a command asks for a device.
bool takes_device(const std::vector<std::string>& arguments) {
  const std::string& command = arguments.front();
  return command != "devices" && command != "layout" && command != "inspect";
}

/// The command with two repetitions; empty where it has no more than these.
std::vector<std::string> with_fewer_repetitions(std::vector<std::string> arguments) {
  const auto option = std::ranges::find(arguments, "-n");
  if (option == arguments.end() || option + 1 == arguments.end()) return {};
  std::string& number = *(option + 1);
  if (number == "1" || number == "2") return {};
  number = "2";
  return arguments;
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

}  // namespace

Runner::Runner(RunnerOptions options, const std::vector<Experiment>& experiments)
    : options_(std::move(options)), folder_(new_folder()) {
  for (const Experiment& experiment : experiments) parts_.push_back({&experiment});
}

Runner::~Runner() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

CommandResult Runner::carry_out(const std::vector<std::string>& arguments, double timeout_s) const {
  std::vector<std::string> words = arguments;
  if (takes_device(arguments)) {
    words.insert(words.end(), options_.device_arguments.begin(), options_.device_arguments.end());
  } else if (arguments.front() == "devices" && !options_.cache_dir.empty()) {
    words.insert(words.end(), {"--cache-dir", options_.cache_dir});
  }
  words.insert(words.end(), {"--format", "json"});
  const std::filesystem::path folder =
      std::filesystem::path(folder_) / std::to_string(results_.size());
  const bool has_folder = std::ranges::find(words, kFolder) != words.end();
  std::ranges::replace(words, std::string(kFolder), folder.string());
  const Stopwatch watch;
  const ChildOutput output = run_child_for(words, timeout_s * 1e3);
  CommandResult result;
  result.seconds = watch.milliseconds() / 1e3;
  result.too_late = output.too_late;
  const std::string complaint = complaint_in(output.error);
  const std::string failure = complaint.empty() ? output.how : complaint;
  Json report = Json::parse(output.standard, nullptr, false);
  if (output.too_late) {
    result.failure = timeout_s < kLeastPaceS ? std::string(kNoTime)
                                             : fmt::format(
                                                   "it took more than the {:.0f} s that "
                                                   "were left for it",
                                                   timeout_s);
  } else if (report.is_discarded()) {
    result.failure = failure;
  } else if (output.status != 0) {
    result.warning = failure;
  }
  if (has_folder) {
    if (report.is_object()) report["log"] = log_in(folder);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  if (!report.is_discarded()) result.report = std::make_shared<const Json>(std::move(report));
  return result;
}

bool Runner::lacks_result(const Cell& cell, Round round) const {
  const auto found = results_.find(cell.arguments);
  return found == results_.end() || (found->second.too_late && round != Round::untried);
}

void Runner::tell(const Part& part) const {
  if (!options_.progress) return;
  std::size_t all = 0;
  for (const Part& one : parts_) all += one.experiment->cells.size();
  const double share =
      static_cast<double>(results_.size()) / static_cast<double>(std::max<std::size_t>(all, 1));
  options_.progress(name_of(*part.experiment), std::min(share, 1.0));
}

void Runner::run_cell(const Cell& cell, const Limits& limits, Part& part) {
  if (limits.wanted_s <= 0.0 || limits.most_s <= 0.0) return;
  Pace& pace = part.paces[cell.places.empty() ? 0 : cell.places.front().column];
  const double foreseen_s =
      pace.seconds > kLeastPaceS && pace.work > 0.0 ? pace.seconds * cell.work / pace.work : 0.0;
  const double allowed_s = std::min(limits.wanted_s * (1.0 + kGrace), limits.most_s);
  const double timeout_s = std::min(std::max(allowed_s, kLeastTimeoutS), limits.most_s);
  const auto found = results_.find(cell.arguments);
  // What is too slow is repeated less before it is cut.
  std::vector<std::string> shorter;
  const bool is_slow = foreseen_s > allowed_s || found != results_.end();
  if (is_slow && limits.round != Round::by_shares) shorter = with_fewer_repetitions(cell.arguments);
  if (foreseen_s * (shorter.empty() ? 1.0 : kShareOfFewer) > allowed_s) return;
  // What took too long once is tried again only with more time, or with fewer repetitions.
  constexpr double kMore = 1.5;
  const bool is_shortened =
      !shorter.empty() && found != results_.end() && found->second.ran.empty();
  if (found != results_.end() &&
      timeout_s < (is_shortened ? kMore * kShareOfFewer : kMore) * found->second.seconds) {
    return;
  }
  CommandResult now = carry_out(shorter.empty() ? cell.arguments : shorter, timeout_s);
  now.ran = shorter;
  const CommandResult& result =
      results_.insert_or_assign(cell.arguments, std::move(now)).first->second;
  const double least_s = result.too_late ? kLeastPaceS * 2.0 : 0.0;
  const double share = result.ran.empty() ? 1.0 : kShareOfFewer;
  pace = {cell.work, std::max(result.seconds / share, least_s)};
}

void Runner::run_round(Round round) {
  std::vector<Part*> open;
  double shares = 0.0;
  for (Part& part : parts_) {
    const bool is_open = std::ranges::any_of(
        part.experiment->cells, [&](const Cell& cell) { return lacks_result(cell, round); });
    if (!is_open) continue;
    open.push_back(&part);
    shares += share_of(*part.experiment);
  }
  for (Part* part : open) {
    const double begin_s = seconds();
    const double share = round == Round::by_shares || round == Round::shortened
                             ? std::min(share_of(*part->experiment) / shares, 1.0)
                             : 1.0;
    const double deadline_s = begin_s + left_s() * share;
    shares -= share_of(*part->experiment);
    for (const Cell& cell : part->experiment->cells) {
      if (!lacks_result(cell, round)) continue;
      tell(*part);
      run_cell(cell, {deadline_s - seconds(), left_s(), round}, *part);
    }
    part->seconds += seconds() - begin_s;
  }
}

void Runner::run() {
  // Experiments that end early leave their time to the second round, and so on.
  for (const Round round : {Round::by_shares, Round::shortened, Round::untried, Round::again}) {
    run_round(round);
  }
}

}  // namespace morton::cli
