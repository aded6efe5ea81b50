// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"
#include "morton/tools/compiled_plan.hpp"
#include "morton/tools/probe.hpp"
#include "run/profile_measure.hpp"
#include "run/profile_page.hpp"
#include "run/profile_report.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {
namespace {

constexpr const char* kProfileFooter =
    R"(Three clocks are never mixed. `device` is the device's own, of the kernel. `enqueue` is the host's, for
putting the step into the queue. `host` is the host's, for the step alone from enqueuing it to its end.
FLOP and bytes are those of the problem, without padding. Shares are of the device's roofline peaks
(`morton probe`). Where a share is above 102 %, they are measured again. A share above 102 % of these is an error,
and the status is 1.

Examples:
  morton profile models/lenet5.onnx
  morton profile models/lenet5.onnx --batch 100 -n 50 --layers layers.csv
  morton profile models/lenet5.onnx --trace trace.json    # open it on https://ui.perfetto.dev
  morton profile models/lenet5.onnx --html profile.html   # open it in a browser)";

struct ProfileArguments {
  DeviceOptions device;
  ModelOptions model;
  MeasureOptions measure;
  ResultOptions result;
  std::vector<std::string> feeds;
  std::string layers, trace, html;
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
};

/// By the file's ending; throws UsageError.
Format layers_format(const std::string& path) {
  if (path.ends_with(".csv")) return Format::csv;
  if (path.ends_with(".json")) return Format::json;
  throw UsageError(fmt::format("--layers {}: expected a file that ends in .csv or .json", path));
}

/// What a short probe finds.
RooflinePeaks probed_peaks(const Device& device) {
  Progress progress("measuring the peaks");
  ProbeOptions options;
  options.effort = ProbeOptions::Effort::quick;
  options.progress = [&](const std::string&, double fraction) { progress.update(fraction); };
  const ProbeResult result = probe(device, options);
  for (const std::string& note : result.notes) log::info("{}", note);
  return peaks_of(result);
}

/// The better of two measurements of each peak: a device that is busy shows less than it has.
RooflinePeaks best_of(RooflinePeaks peaks, const RooflinePeaks& others) {
  peaks.gflops_f32 = std::max(peaks.gflops_f32, others.gflops_f32);
  peaks.gigabytes_per_second = std::max(peaks.gigabytes_per_second, others.gigabytes_per_second);
  peaks.launch_us = std::min(peaks.launch_us, others.launch_us);
  peaks.launch_and_wait_us = std::min(peaks.launch_and_wait_us, others.launch_and_wait_us);
  for (FootprintBandwidth& one : peaks.bandwidth) {
    const auto same = std::ranges::find(others.bandwidth, one.footprint_bytes,
                                        &FootprintBandwidth::footprint_bytes);
    if (same == others.bandwidth.end()) continue;
    one.gigabytes_per_second = std::max(one.gigabytes_per_second, same->gigabytes_per_second);
  }
  return peaks;
}

/// What is kept for the device, or what a short probe finds.
RooflinePeaks peaks_for(const Device& device) {
  const RooflinePeaks& peaks = device.peaks();
  if (!peaks.source.starts_with("guessed")) return peaks;
  log::info(
      "no measured peaks are kept for device {}: a short probe measures some for this run "
      "(`morton probe` measures them well and keeps them)",
      device.id());
  return probed_peaks(device);
}

/// Where a step seems to exceed kept peaks, they are measured again and all steps rated by them:
/// the device may have been busy, or slower, when they were kept.
void measure_again_what_is_exceeded(Profile& profile, RooflinePeaks& peaks, const Device& device) {
  const std::vector<std::string> impossible = impossible_shares(profile, peaks);
  if (impossible.empty()) return;
  if (device.peaks().source.starts_with("guessed")) return;  // they are this run's already
  log::warn("{}", impossible.front());
  peaks = best_of(probed_peaks(device), peaks);
  for (ProfiledStep& step : profile.steps) rate(step, peaks);
  log::info("the peaks were measured again, for this run alone");
}

std::string inputs_text(const CompiledModel& model) {
  std::string text;
  for (const PortInfo& port : model.inputs()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", port.name, shape_text(port.shape));
  }
  return text;
}

int run_profile(const ProfileArguments& options) {
  const Format layers = options.layers.empty() ? Format::csv : layers_format(options.layers);
  refuse_same_file({{"--layers", options.layers},
                    {"--trace", options.trace},
                    {"--html", options.html},
                    {"--output", options.result.path}});
  (void)parse_duration_ms(options.measure.duration);
  (void)parse_duration_ms(options.measure.warmup);
  CompileOptions compile = compile_options(options.model);
  if (selectors_of(options.device).size() > 1 || !options.device.weights.empty()) {
    throw UsageError(
        "profile: takes one device, since the steps of several have no common clock; profile the "
        "model on each");
  }
  const GivenModel model(options.model, options.elsewhere);
  set_feeds(options.feeds, model, compile);
  const Device device = open_device(options.device);
  const CompiledModel compiled = model.compile({device}, compile);
  log::info("{}", model.kernels_line(compiled.report()));
  RooflinePeaks peaks = peaks_for(device);
  Profile profile = measure_profile(compiled, peaks, options.measure);
  measure_again_what_is_exceeded(profile, peaks, device);
  if (!profile.steps_ms) {
    log::warn("{}: what rests on its clock is n/a", why_no_device_time(compiled.steps()));
  }
  const ProfileSetting setting{
      options.model.path,   inputs_text(compiled), precision_text(options.model.kernels),
      device.description(), device.json(),         peaks};
  if (!options.layers.empty()) emit(layers_of(profile, layers), options.layers);
  if (!options.trace.empty()) emit(trace_of(profile, setting), options.trace);
  if (!options.html.empty()) {
    emit(page_of(profile, setting, plan_json(compiled, option_text)), options.html);
  }
  emit(report_of(profile, setting, options.result.format), options.result.path);
  const std::vector<std::string> impossible = impossible_shares(profile, peaks);
  for (const std::string& line : impossible) print_error(line, "");
  return impossible.empty() ? 0 : kCheckFailed;
}

}  // namespace

void add_profile(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("profile", "Show time, rates and limits of every step of a model");
  command->footer(kProfileFooter);
  auto options = std::make_shared<ProfileArguments>();
  add_given_model(*command, options->model, options->elsewhere, Need::required);
  command->add_option("--layers", options->layers, "Write one record for each step: .csv or .json")
      ->option_text("FILE")
      ->check(writable_file());
  command
      ->add_option("--trace", options->trace,
                   "Write the fastest run as a trace for Perfetto or chrome://tracing")
      ->option_text("FILE")
      ->check(writable_file());
  command
      ->add_option("--html", options->html,
                   "Write a page for a browser: roofline, timeline, memory, graph and tables")
      ->option_text("FILE")
      ->check(writable_file());
  add_feeds(*command, options->feeds);
  add_options(*command, options->measure);
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_options(*command, options->result, every_format());
  command->callback([options, &chosen] { chosen = [options] { return run_profile(*options); }; });
}

}  // namespace morton::cli
