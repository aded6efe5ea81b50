// SPDX-License-Identifier: Apache-2.0
#include "device/tune_static.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/child.hpp"
#include "common/commands.hpp"
#include "common/device_description.hpp"
#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/read_model.hpp"
#include "common/terminal.hpp"
#include "device/tune_report.hpp"
#include "model/statistics_report.hpp"
#include "morton/device.hpp"
#include "morton/tools/static_tuning.hpp"

namespace morton::cli {
namespace {

/// The device that executes candidates: a CPU, on which nothing but numbers is checked.
std::string device_that_checks(const StaticTuning& what) {
  if (!what.check_on.empty()) return what.check_on;
  for (const std::string& text : Device::list_json()) {
    const Json device = Json::parse(text);
    if (device.at("kind") == "cpu") return device.at("id").get<std::string>();
  }
  log::warn("nothing is executed: there is no CPU among the devices; --check-on names another");
  return "";
}

Json failures_json(const std::vector<StaticTuneFailure>& failures) {
  Json json = Json::array();
  for (const StaticTuneFailure& one : failures) {
    json.push_back({{"kernel", one.kernel}, {"tunables", one.tunables}, {"why", one.why}});
  }
  return json;
}

Json report_json(const StaticTuneReport& report) {
  Json results = Json::array();
  for (const StaticTuneResult& result : report.results) {
    results.push_back({{"kernel", result.kernel},
                       {"tunables", result.tunables},
                       {"standard", result.is_standard},
                       {"checked", result.is_checked},
                       {"per_operation", result.per_operation},
                       {"statistics", statistics_json(result.statistics)}});
  }
  return {{"results", results},
          {"refused", failures_json(report.refused)},
          {"failed", failures_json(report.failed)},
          {"wrong", failures_json(report.wrong)},
          {"untried", report.untried},
          {"file", report.file}};
}

std::string report_text(const StaticTuneReport& report, Format format) {
  using enum Table::Align;
  Table table;
  table.columns = {{"kernel"},
                   {"tunables"},
                   {"cost", right},
                   {"prologue", right},
                   {"spills:fills", right},
                   {"efficiency", right},
                   {"result"}};
  for (const StaticTuneResult& result : report.results) {
    const CompilerStatistics& said = result.statistics;
    const CodeCost& turn = said.hot_loop ? *said.hot_loop : said.all;
    table.rows.push_back(
        {result.kernel, values_text(result.tunables), fmt::format("{:.3g}", result.per_operation),
         std::to_string(said.prologue), fmt::format("{}:{}", said.spills, said.fills),
         turn.multiply_adds > 0 ? fmt::format("{:.2f}", turn.efficiency()) : "-",
         result.is_standard  ? "standard"
         : result.is_checked ? "right where it was executed"
                             : "not executed"});
  }
  for (const auto& [list, what] :
       {std::pair{&report.failed, "failed: "}, std::pair{&report.wrong, "wrong: "},
        std::pair{&report.refused, "refused: "}}) {
    for (const StaticTuneFailure& one : *list) {
      table.rows.push_back({one.kernel, one.tunables, "", "", "", "", what + one.why});
    }
  }
  return to_text(table, format) +
         fmt::format(
             "\ncost: multiply-adds' worth of one operation, on the kernel's example\n"
             "{} kept, {} kernels refused, {} failed, {} wrong, {} values not tried; written to "
             "{}\n",
             report.results.size(), report.refused.size(), report.failed.size(),
             report.wrong.size(), report.untried, report.file);
}

}  // namespace

void add_static_options(CLI::App& command, StaticTuning& what) {
  command.add_flag("--static", what.wanted,
                   "Search by what the device's compiler says; measure nothing");
  add_device_info(command, what.device_info);
  command
      .add_option("--check-on", what.check_on,
                  "With --static: device that executes candidates (default: the first CPU)")
      ->option_text("DEVICE");
}

int tune_static_command(const StaticTuning& what, const ModelOptions& model,
                        const DeviceOptions& device) {
  require_one_device(device);
  StaticTuneOptions options;
  options.device = device.selector;
  options.device_json =
      device_description(what.device_info.empty() ? device.selector : "", what.device_info, device);
  options.check_device = device_that_checks(what);
  options.kernels = what.kernels;
  options.catalogue_files = model.kernels.catalogue_files;
  options.cache_dir = device.cache_dir;
  options.output = what.output;
  options.worker = worker_command();
  options.candidate_timeout_ms = what.timeout_ms;
  if (!model.path.empty()) {
    CompileOptions compile = compile_options(model);
    compile.cache_dir = device.cache_dir;
    options.families = families_of_plan(read_model(model), options.device_json, compile);
  }
  Progress progress("tuning");
  options.progress = [&progress](double done, const std::string& text) {
    progress.relabel(text);
    progress.update(done);
  };
  const StaticTuneReport report = tune_static(options);
  emit(what.format == Format::json ? to_text(report_json(report), what.format)
                                   : report_text(report, what.format),
       "");
  return report.failed.empty() && report.wrong.empty() ? 0 : kCheckFailed;
}

}  // namespace morton::cli
