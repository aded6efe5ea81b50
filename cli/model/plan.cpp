// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/commands.hpp"
#include "common/device_description.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "model/plan_page.hpp"
#include "morton/compile.hpp"
#include "morton/error.hpp"
#include "morton/segments.hpp"
#include "morton/support.hpp"
#include "morton/tools/compiled_plan.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {
namespace {

constexpr const char* kPlanFooter =
    R"(Nothing is built or run. With --device-info no device need be present. The file is the output of
`morton devices --format json` on the other machine. If it lists several devices, --device names
one by its id.

Examples:
  morton plan models/lenet5.onnx
  morton plan models/lenet5.onnx --why --batch 100
  morton plan models/lenet5.onnx --device-info board.json --device 0:0
  morton plan models/lenet5.onnx --use gemm=gemm.naive
  morton plan models/lenet5.onnx --why --html plan.html)";

struct PlanArguments {
  DeviceOptions device;
  ModelOptions model;
  std::vector<std::string> feeds;
  std::string device_info, html;
  ResultOptions result;
  bool why = false;
};

/// What a plan without a run shows of a model that must wait in one.
void show_plan_before_wait(const PlanArguments& options, const Model& model,
                           const std::vector<std::string>& devices, const CompileOptions& compile,
                           const NeedsSegments& error) {
  if (!options.html.empty()) {
    throw UnsupportedError("--html: the model has no plan as a whole: " + error.message());
  }
  const PartBeforeWait part = part_before_wait(model, compile, error);
  std::optional<PlannedModel> plan;
  if (part.model) plan.emplace(*part.model, devices, part.options);
  const std::string why = with_options(part.wait);
  if (for_people(options.result.format)) {
    const auto detail = options.why ? PlanDetail::why : PlanDetail::brief;
    const std::string text = plan ? plan->text(detail, option_text) + "\n" : "";
    emit(fmt::format("{}wait: {}\n`morton run` plans what comes behind it once that is known: {} "
                     "nodes\n",
                     text, why, part.nodes_behind),
         options.result.path);
    return;
  }
  Json value = {{"wait", why}, {"nodes_behind", part.nodes_behind}};
  if (plan) value["before"] = Json::parse(plan->json(option_text));
  emit(to_text(value, options.result.format), options.result.path);
}

int show_plan(const PlanArguments& options) {
  refuse_same_file({{"--html", options.html}, {"--output", options.result.path}});
  CompileOptions compile = compile_options(options.model);
  compile.weights = weights_of(options.device);
  compile.cache_dir = options.device.cache_dir;
  const Model model = read_model(options.model);
  require_supported(model);
  set_feeds(options.feeds, model.inputs(), model.outputs(), compile);
  std::vector<std::string> devices;
  for (const std::string& selector : selectors_of(options.device)) {
    devices.push_back(device_description(selector, options.device_info, options.device));
  }
  std::optional<PlannedModel> planned;
  try {
    planned.emplace(model, devices, compile);
  } catch (const NeedsSegments& error) {
    show_plan_before_wait(options, model, devices, compile, error);
    return 0;
  }
  const PlannedModel& plan = *planned;
  if (!options.html.empty()) {
    const PlanPage about{options.model.path, precision_text(options.model.kernels), options.why};
    emit(page_of(Json::parse(plan.json(option_text)), about), options.html);
  }
  const auto detail = options.why ? PlanDetail::why : PlanDetail::brief;
  emit(for_people(options.result.format)
           ? plan.text(detail, option_text)
           : to_text(Json::parse(plan.json(option_text)), options.result.format),
       options.result.path);
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("plan", "Show kernel, format, work-group and bytes of every step");
  command->footer(kPlanFooter);
  auto options = std::make_shared<PlanArguments>();
  add_model_file(*command, options->model);
  command->add_flag("--why", options->why, "Show why each kernel was chosen");
  command
      ->add_option("--html", options->html,
                   "Write a page for a browser: graph, memory, layouts and reasons")
      ->option_text("FILE")
      ->check(writable_file());
  add_feeds(*command, options->feeds);
  add_device_info(*command, options->device_info);
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_start(*command, options->model, CompileOptions::Start::ready);
  add_options(*command, options->result, {{"table", Format::table}, {"json", Format::json}});
  command->callback([options, &chosen] { chosen = [options] { return show_plan(*options); }; });
}

}  // namespace morton::cli
