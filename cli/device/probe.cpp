// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/probe.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "device/probe_page.hpp"
#include "device/probe_report.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kProbeFooter =
    R"(Figures are medians of several samples, with the best in brackets. Each was checked by its sums or
bytes. Let nothing else run meanwhile. The best rates and the median of a launch are kept as the device's
roofline peaks. `plan` estimates with them, `profile` compares with them, and `morton devices` shows
which devices have them.

Examples:
  morton probe
  morton probe -d gpu --quick
  morton probe --format json -o probe.json
  morton probe --html probe.html)";

struct ProbeArguments {
  DeviceOptions device;
  ResultOptions result;
  std::string html;
  bool quick = false;
};

int run_probe(const ProbeArguments& options) {
  const Device device = open_device(options.device);
  ProbeOptions how;
  how.effort = options.quick ? ProbeOptions::Effort::quick : ProbeOptions::Effort::full;
  ProbeResult result;
  {
    Progress progress("measuring");
    how.progress = [&](const std::string&, double fraction) { progress.update(fraction); };
    result = probe(device, how);
  }
  for (const std::string& note : result.notes) log::info("{}", note);
  std::string kept;
  try {
    kept = keep_peaks(device, result);
  } catch (const Error& error) {
    // What was measured is worth printing all the same.
    log::warn("{}; nothing is kept: plans and profiles go on without these figures",
              message_of(error));
  }
  if (!options.html.empty()) emit(page_of(device, page_sections(result)), options.html);
  emit(report_of(result, device, kept, options.result.format), options.result.path);
  return 0;
}

}  // namespace

void add_probe(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("probe", "Measure a device's roofline peaks, and keep them");
  command->footer(kProbeFooter);
  auto options = std::make_shared<ProbeArguments>();
  command->add_flag("--quick", options->quick, "Fewer widths, footprints and samples");
  command->add_option("--html", options->html, "Write a page for a browser, with pictures")
      ->option_text("FILE");
  add_options(*command, options->device);
  add_options(*command, options->result, every_format());
  command->callback([options, &chosen] { chosen = [options] { return run_probe(*options); }; });
}

}  // namespace morton::cli
