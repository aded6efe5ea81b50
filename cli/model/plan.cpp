// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "morton/compile.hpp"
#include "morton/error.hpp"
#include "morton/support.hpp"

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
  morton plan models/lenet5.onnx --use gemm=gemm.naive)";

struct PlanArguments {
  DeviceOptions device;
  ModelOptions model;
  std::string device_info;
  ResultOptions result;
  bool why = false;
};

/// The one object of `devices` that `id` names; `id` may be empty when there is only one.
Json select_device(const Json& devices, const std::string& id, const std::string& path) {
  std::string known;
  for (const Json& device : devices) {
    if (!device.is_object()) throw ModelError(fmt::format("{}: holds no device", path));
    const std::string own = device.value("id", "");
    if (own == id || (id.empty() && devices.size() == 1)) return device;
    known += fmt::format("\n{}  {}", own, device.value("name", ""));
  }
  if (devices.empty()) throw ModelError(fmt::format("{}: lists no device", path));
  throw UsageError(id.empty()
                       ? fmt::format("{}: name one of its devices with --device:{}", path, known)
                       : fmt::format("{}: has no device '{}'; it has:{}", path, id, known));
}

/// The description of one device in a file that `morton devices --format json` wrote, or that holds
/// a single object.
std::string device_json_from(const std::string& path, const std::string& id) {
  const std::string text = read_text(path);
  Json value;
  try {
    value = Json::parse(text);
    value = select_device(value.is_array() ? value : Json::array({value}), id, path);
  } catch (const Json::exception& problem) {
    throw ModelError(
        fmt::format("{}: is no description of a device as `morton devices --format json` writes "
                    "it: {}",
                    path, problem.what()));
  }
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

int show_plan(const PlanArguments& options) {
  CompileOptions compile = compile_options(options.model);
  compile.weights = weights_of(options.device);
  compile.cache_dir = options.device.cache_dir;
  const Model model = read_model(options.model);
  require_supported(model);
  std::vector<std::string> devices;
  for (const std::string& selector : selectors_of(options.device)) {
    devices.push_back(options.device_info.empty()
                          ? open_device(selector, options.device).json()
                          : device_json_from(options.device_info, selector));
  }
  const auto detail = options.why ? CompiledModel::Detail::why : CompiledModel::Detail::brief;
  if (for_people(options.result.format)) {
    emit(plan_text(model, devices, detail, compile), options.result.path);
    return 0;
  }
  emit(to_text(Json::parse(plan_json(model, devices, compile)), options.result.format),
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
      ->add_option("--device-info", options->device_info, "Plan for the device that FILE describes")
      ->option_text("FILE");
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_options(*command, options->result, {{"table", Format::table}, {"json", Format::json}});
  command->callback([options, &chosen] { chosen = [options] { return show_plan(*options); }; });
}

}  // namespace morton::cli
