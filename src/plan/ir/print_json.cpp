// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/print_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rooms.hpp"

namespace morton::plan {
namespace {

std::string_view name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::input:
      return "input";
    case Value::Kind::output:
      return "output";
    case Value::Kind::constant:
      return "constant";
    case Value::Kind::state:
      return "state";
    case Value::Kind::derived:
      return "derived";
    case Value::Kind::activation:
      return "activation";
    case Value::Kind::workspace:
      return "workspace";
  }
  return "";
}

std::string_view role_of(const Step& step) {
  if (step.transfer() != nullptr) return "transfer";
  return step.role == Step::Role::repack ? "repack" : "compute";
}

Json to_json(const StepArgument& argument) {
  Json json{{"name", argument.name}};
  if (const std::int64_t* integer = argument.integer()) json["integer"] = *integer;
  const PassedValue* passed = argument.value();
  if (passed == nullptr) return json;
  json["value"] = passed->id.index();
  const PlannedImage& image = passed->image;
  if (image.source == PlannedImage::Source::none) return json;
  const char* const memory = image.source == PlannedImage::Source::shared ? "shared"
                             : image.source == PlannedImage::Source::kept ? "kept"
                                                                          : "copied";
  json["image"] = {{"width", image.width}, {"height", image.height}, {"memory", memory}};
  return json;
}

Json to_json(const Step& step, SettingPrinter printer) {
  Json arguments = Json::array();
  for (const StepArgument& argument : step.arguments) {
    arguments.push_back(to_json(argument));
  }
  const auto numbers = [](const std::vector<ValueId>& values) {
    Json list = Json::array();
    for (const ValueId id : values) list.push_back(id.index());
    return list;
  };
  const KernelLaunch launch = launch_of(step);
  return {{"name", step.name},
          {"kernel", step.kernel},
          {"slot", step.device.index()},
          {"place", is_on_host(step) ? "host" : "device"},
          {"role", role_of(step)},
          {"problem", step.problem},
          {"tunables", Json(step.tunables)},
          {"reason", step.reason.print(printer)},
          {"global", launch.global},
          {"local", launch.local},
          {"flop", step.cost.flop},
          {"bytes", step.cost.bytes},
          {"logical_bytes", step.cost.logical_bytes},
          {"footprint_bytes", step.cost.footprint_bytes},
          {"estimated_us", step.cost.estimated_us},
          {"arguments", arguments},
          {"reads", numbers(step.reads)},
          {"writes", numbers(step.writes)}};
}

Json to_json(const std::vector<Step>& steps, SettingPrinter printer) {
  Json list = Json::array();
  for (const Step& step : steps) list.push_back(to_json(step, printer));
  return list;
}

Json to_json(const Value& value) {
  return {{"name", value.name},
          {"kind", name_of(value.kind)},
          {"arrangement", print(value.arrangement)},
          {"layout", layout::layout_text(value.arrangement)},
          {"shape", value.arrangement.tensor_shape},
          {"block", value.block.index()},
          {"offset_bytes", value.offset_bytes},
          {"bytes", value.bytes}};
}

/// One text of each device.
Json texts_of(const Plan& plan, std::string PlannedDevice::*text) {
  Json texts = Json::array();
  for (const PlannedDevice& device : plan.devices) texts.push_back(device.*text);
  return texts;
}

/// A task, then one line for each way to compute it or why it cannot be.
Json lines_of(const std::string& text) {
  Json lines = Json::array();
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::size_t first = std::min(text.find_first_not_of(' ', start), end);
    lines.push_back(text.substr(first, end - first));
    start = end + 1;
  }
  return lines;
}

}  // namespace

Json to_json(const Plan& plan, SettingPrinter printer) {
  Json values = Json::array();
  for (const Value& value : plan.values) values.push_back(to_json(value));
  Json blocks = Json::array();
  for (const PlannedBlock& block : plan.blocks) {
    blocks.push_back(
        {{"kind", name_of(block.kind)}, {"slot", block.device.index()}, {"bytes", block.bytes}});
  }
  Json considered = Json::array();
  for (const Message& task : plan.considered) {
    considered.push_back(lines_of(task.print(printer)));
  }
  return {{"schema", 1},
          {"devices", texts_of(plan, &PlannedDevice::fingerprint)},
          {"roofs", texts_of(plan, &PlannedDevice::peaks)},
          {"kernels", plan.instances.size()},
          {"programs", plan.programs.size()},
          {"streamed_bytes", streamed_bytes(plan)},
          {"largest_live_bytes", plan.largest_live.all},
          {"largest_live_activation_bytes", plan.largest_live.activations},
          {"largest_live_workspace_bytes", plan.largest_live.workspace},
          {"load_steps", to_json(plan.load_steps, printer)},
          {"steps", to_json(plan.steps, printer)},
          {"values", values},
          {"blocks", blocks},
          {"considered", considered}};
}

}  // namespace morton::plan
