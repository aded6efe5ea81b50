// SPDX-License-Identifier: Apache-2.0
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <utility>

#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "common/unused_options.hpp"
#include "morton/dataset.hpp"
#include "morton/error.hpp"
#include "reproduce/build.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/report.hpp"
#include "reproduce/report_html.hpp"
#include "reproduce/running/runner.hpp"

namespace morton::cli {
namespace {

constexpr const char* kReproduceFooter =
    R"(Morton grew out of five documents: R17 and R18 (networks on a Mali), G16 (gemmlowp), A16 (products on
Adreno) and C18 (training on a phone). This repeats their experiments on a device. Each table has the
question, our numbers beside the published ones, an answer from what was measured, and its commands.

Every command is a process of its own. The time is shared among the experiments, and what some leave goes
to the others. What does not fit is cut, and the table says so. A table behind a source is of that source.
The status is 1 where nothing could be measured. A command that is too slow runs with two repetitions.

Examples:
  morton reproduce --list
  morton reproduce --quick
  morton reproduce g16 a16
  morton reproduce r17 table-8.2
  morton reproduce table-8.1
  morton reproduce r18 --budget 10m --format md -o r18.md
  morton reproduce --html report.html --format json -o report.json)";

constexpr const char* kDigits = "data/mnist";

struct ReproduceArguments {
  std::vector<std::string> names;  ///< of sources and tables
  bool list = false, quick = false;
  std::string budget;
  std::string data = shipped_file(kDigits);
  std::string html;  ///< the page's file; empty: none
  DeviceOptions device;
  ResultOptions result;
};

std::string date_of_today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// The options of the device, as commands take them.
std::vector<std::string> device_arguments(const DeviceOptions& options) {
  std::vector<std::string> arguments;
  if (!options.selector.empty()) arguments.insert(arguments.end(), {"-d", options.selector});
  if (!options.cache_dir.empty()) {
    arguments.insert(arguments.end(), {"--cache-dir", options.cache_dir});
  }
  if (!options.cache_limit.empty()) {
    arguments.insert(arguments.end(), {"--cache-limit", options.cache_limit});
  }
  return arguments;
}

struct NamedDevice {
  std::string id, text;
  bool has_peak = false;  ///< measured, not guessed
};

/// Opens the device for its name alone: commands open it in processes of their own.
NamedDevice device_of(const DeviceOptions& options) {
  require_one_device(options);
  const Device device = open_device(options);
  return {device.id(), device.description(), device.peaks().source.starts_with("measured")};
}

double budget_seconds(const ReproduceArguments& options) {
  if (options.budget.empty()) return options.quick ? 170.0 : 1440.0;
  const double seconds = parse_duration_ms(options.budget) / 1e3;
  if (seconds > 0.0) return seconds;
  throw UsageError(fmt::format("--budget {}: nothing can be measured in no time", options.budget));
}

/// The line that asks for this.
std::string typed(const ReproduceArguments& options) {
  std::vector<std::string> words{"reproduce"};
  words.insert(words.end(), options.names.begin(), options.names.end());
  if (options.quick) words.push_back("--quick");
  if (!options.budget.empty()) words.insert(words.end(), {"--budget", options.budget});
  if (options.data != shipped_file(kDigits)) words.insert(words.end(), {"--data", options.data});
  for (const std::string& word : device_arguments(options.device)) words.push_back(word);
  words.insert(words.end(), {"--html", options.html});
  return command_text(words);
}

/// Digits that are not there are said before anything is measured.
void require_data(const ReproduceArguments& options, const std::vector<Experiment>& experiments) {
  std::string trained;
  for (const Experiment& experiment : experiments) {
    const bool trains = std::ranges::any_of(
        experiment.cells, [](const Cell& cell) { return cell.arguments.front() == "train"; });
    if (trains) trained += (trained.empty() ? "" : " and ") + name_of(experiment);
  }
  if (trained.empty()) return;
  std::string problem;
  try {
    for (const Split part : {Split::train, Split::test}) {
      if (!has_split(options.data, part)) problem = "it has no part to train or none to test";
    }
  } catch (const Error& error) {
    problem = message_of(error);
  }
  if (problem.empty()) return;
  throw UsageError(fmt::format("--data {}: no digits for {}, which train on them: {}", options.data,
                               trained, problem));
}

/// One line and status 1 where nothing was measured, though it was to be.
int status_of(const Outcome& outcome, const std::string& budget) {
  if (outcome.measured > 0) return 0;
  if (outcome.failed > 0) {
    print_error(fmt::format("nothing was measured: whatever ran failed; the first was {}",
                            outcome.first_failure),
                "");
    return kCheckFailed;
  }
  if (outcome.cut > 0) {
    print_error(fmt::format("nothing was measured: --budget {} is too short", budget), "");
    return kCheckFailed;
  }
  log::warn("nothing was measured: --quick leaves out all of it");
  return 0;
}

std::vector<Finding> findings_of(const Runner& runner, const std::vector<Experiment>& experiments,
                                 const std::vector<Experiment>& full) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    findings.push_back(
        finding_of(experiments[i], runner.results(), full.empty() ? nullptr : &full[i]));
    findings.back().seconds = runner.seconds_of(i);
  }
  return findings;
}

int reproduce(const ReproduceArguments& options) {
  refuse_same_file({{"--html", options.html}, {"--output", options.result.path}});
  Conditions conditions{options.quick ? Scale::quick : Scale::full, options.data, "", true};
  const auto chosen = [&] { return experiments_of(all_experiments(conditions), options.names); };
  if (options.list) {
    emit(list_of(chosen(), options.result.format), options.result.path);
    return 0;
  }
  // A name or a folder that is wrong is said before a device is asked for.
  require_data(options, chosen());
  const double budget_s = budget_seconds(options);
  const NamedDevice device = device_of(options.device);
  conditions.device_id = device.id;
  conditions.has_peak = device.has_peak;
  const std::vector<Experiment> experiments = chosen();
  RunnerOptions how{device_arguments(options.device), options.device.cache_dir, budget_s};
  Progress progress("experiments");
  how.progress = [&](const std::string& name, double share) {
    progress.relabel(name);
    progress.update(share);
  };
  Runner runner(how, experiments);
  runner.run();
  std::vector<Experiment> full;
  const Scale scale = std::exchange(conditions.scale, Scale::full);
  if (options.quick) full = chosen();
  const std::vector<Finding> findings = findings_of(runner, experiments, full);
  const ReportHead head{build_text(),
                        device.text,
                        date_of_today(),
                        scale,
                        budget_s,
                        runner.seconds(),
                        shortage_text(shortage_of(experiments, runner.results()), budget_s)};
  if (!options.html.empty()) emit(page_of(head, findings, typed(options)), options.html);
  emit(report_of(head, findings, options.result.format), options.result.path);
  return status_of(outcome_of(findings), fmt::format("{:g}s", budget_s));
}

}  // namespace

void add_reproduce(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Repeat the sources' experiments on a device");
  command->footer(kReproduceFooter);
  auto options = std::make_shared<ReproduceArguments>();
  command
      ->add_option("NAME", options->names,
                   "Sources (r17, r18, g16, a16, c18), tables and figures (table-8.2, figure-9.1); "
                   "default: all")
      ->option_text("SOURCE|TABLE...");
  command->add_flag("--list", options->list, "List the tables and their questions, and end");
  command->add_flag("--quick", options->quick, "Fewest sizes and repetitions, within 3 minutes");
  command
      ->add_option("--budget", options->budget,
                   "Time for all of it: 10m; what does not fit is cut (24m, with --quick 170s)")
      ->option_text("TIME");
  command
      ->add_option("--data", options->data,
                   "Data set of digits for C18's training (default: that of `morton demo`)")
      ->option_text("PATH");
  command->add_option("--html", options->html, "Write a page for a browser here")
      ->option_text("FILE")
      ->check(writable_file());
  add_options(*command, options->device);
  add_options(*command, options->result, every_format());
  command->callback([command, options, &chosen] {
    if (options->list) {
      refuse_unread(*command, {"NAME", "--list", "--quick", "--format", "--output"},
                    "reproduce --list");
    }
    chosen = [options] { return reproduce(*options); };
  });
}

}  // namespace morton::cli
