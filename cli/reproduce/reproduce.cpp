// SPDX-License-Identifier: Apache-2.0
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <memory>

#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"
#include "reproduce/build.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/report.hpp"
#include "reproduce/report_html.hpp"
#include "reproduce/runner.hpp"

namespace morton::cli {
namespace {

constexpr const char* kReproduceFooter =
    R"(Morton grew out of five documents: R17 and R18 (networks on a Mali), G16 (gemmlowp), A16 (products on
Adreno) and C18 (training on a phone). This repeats their experiments on a device. Each table has the
question, our figures beside the published ones, an answer from what was measured, and its commands.

Every command is a process of its own. The time is shared among the experiments. What does not fit is
cut, and the table says so.

Examples:
  morton reproduce --list
  morton reproduce --quick
  morton reproduce r17 table-8.2
  morton reproduce r18 --budget 10m --format md -o r18.md
  morton reproduce --html report.html --format json -o report.json)";

struct ReproduceArguments {
  std::string source;
  std::vector<std::string> tables;
  bool list = false, quick = false;
  std::string budget;
  std::string data = "data/mnist";
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
};

/// Opens the device for its name alone: commands open it in processes of their own.
NamedDevice device_of(const DeviceOptions& options) {
  require_one_device(options);
  const Device device = open_device(options);
  return {device.id(), device.description()};
}

double budget_seconds(const ReproduceArguments& options) {
  if (!options.budget.empty()) return parse_duration_ms(options.budget) / 1e3;
  return options.quick ? 170.0 : 1440.0;
}

/// The line that asks for this.
std::string typed(const ReproduceArguments& options) {
  std::vector<std::string> words{"reproduce"};
  if (!options.source.empty()) words.push_back(options.source);
  words.insert(words.end(), options.tables.begin(), options.tables.end());
  if (options.quick) words.push_back("--quick");
  if (!options.budget.empty()) words.insert(words.end(), {"--budget", options.budget});
  for (const std::string& word : device_arguments(options.device)) words.push_back(word);
  words.insert(words.end(), {"--html", options.html});
  return command_text(words);
}

int reproduce(const ReproduceArguments& options) {
  Conditions conditions{options.quick ? Scale::quick : Scale::full, options.data, ""};
  if (options.list) {
    emit(list_of(experiments_of(all_experiments(conditions), options.source, options.tables),
                 options.result.format),
         options.result.path);
    return 0;
  }
  // A name that is wrong is said before a device is asked for.
  (void)experiments_of(all_experiments(conditions), options.source, options.tables);
  const double budget_s = budget_seconds(options);
  const NamedDevice device = device_of(options.device);
  conditions.device_id = device.id;
  const std::vector<Experiment> experiments =
      experiments_of(all_experiments(conditions), options.source, options.tables);
  double shares = 0.0;
  for (const Experiment& experiment : experiments) shares += share_of(experiment);
  Runner runner({device_arguments(options.device), budget_s, conditions.scale}, shares);
  std::vector<Finding> findings;
  Progress progress("experiments");
  for (const Experiment& experiment : experiments) {
    progress.relabel(name_of(experiment));
    progress.update(static_cast<double>(findings.size()) / static_cast<double>(experiments.size()));
    findings.push_back(runner.run(experiment));
  }
  const ReportHead head{build_text(),     device.text, date_of_today(),
                        conditions.scale, budget_s,    runner.seconds()};
  if (!options.html.empty()) emit(page_of(head, findings, typed(options)), options.html);
  emit(report_of(head, findings, options.result.format), options.result.path);
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Repeat the sources' experiments on a device");
  command->footer(kReproduceFooter);
  auto options = std::make_shared<ReproduceArguments>();
  command->add_option("SOURCE", options->source, "r17, r18, g16, a16 or c18 (default: all)");
  command->add_option("TABLE", options->tables, "Tables and figures of it: table-8.2 figure-9.1");
  command->add_flag("--list", options->list, "List the tables and their questions, and end");
  command->add_flag("--quick", options->quick, "Fewest sizes and repetitions, within 3 minutes");
  command
      ->add_option("--budget", options->budget,
                   "Time for all of it: 10m; what does not fit is cut (24m, with --quick 170s)")
      ->option_text("TIME");
  command->add_option("--data", options->data, "Data set of digits for C18's training (data/mnist)")
      ->option_text("PATH");
  command->add_option("--html", options->html, "Write a page for a browser here")
      ->option_text("FILE");
  add_options(*command, options->device);
  add_options(*command, options->result, every_format());
  command->callback([options, &chosen] { chosen = [options] { return reproduce(*options); }; });
}

}  // namespace morton::cli
