// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/log.hpp"
#include "morton/error.hpp"
#include "run/later_starts.hpp"
#include "run/run_arguments.hpp"

namespace morton::cli {

Json kernels_json(const CompileReport& report) {
  return {{"from_cache", report.kernels.from_memory + report.kernels.from_disk},
          {"compiled_ahead", report.plan == CompileReport::PlanOrigin::compiled_file},
          {"built", report.kernels.built},
          {"compiled_objects", report.kernels.compiled_objects}};
}

std::vector<PortInfo> settle(const Sources& sources, const GivenModel& model,
                             CompileOptions& compile) {
  take_list_shapes(sources, model.inputs(), compile.shapes);
  std::vector<PortInfo> given = model.inputs(compile.shapes);
  require_elements(sources, model.inputs(), given);
  std::erase_if(given, [&](const PortInfo& input) { return !sources.contains(input.name); });
  fit_shapes(sources, given, compile);
  std::vector<PortInfo> settled = settled_inputs(given, compile);
  compile.values = planned_values(model.planned_inputs(), sources, settled);
  return settled;
}

namespace {

/// Refuses options that say nothing where nothing runs.
void check_preparation(const RunArguments& options) {
  const auto refuse = [](const char* option) {
    throw UsageError(fmt::format("--prepare runs nothing, so {} says nothing to it", option));
  };
  if (!options.output.empty()) refuse("--output");
  if (options.resumes) refuse("--resume");
  if (options.classes.top_k != 0) refuse("--top-k");
  if (!options.steps.feeds.empty()) refuse("--feed");
  if (options.steps.count != 1) refuse("--steps");
  if (!options.classes.labels.empty()) refuse("--labels");
}

}  // namespace

int prepare(const RunArguments& options) {
  std::optional<BackgroundTurn> turn;
  if (options.later.in_background.empty()) {
    check_preparation(options);
  } else {
    turn.emplace(options.later.in_background, options.device.cache_dir);
  }
  CompileOptions compile = compile_options(options.model);
  compile.start = CompileOptions::Start::ready;
  compile.unkept = CompileOptions::Unkept::refuse;
  compile.weights = weights_of(options.device);
  require_files(options.inputs);
  const GivenModel model(options.model, options.elsewhere);
  if (!options.inputs.empty()) {
    settle(read_sources(options.inputs, model.inputs(), options.pictures), model, compile);
  } else if (const auto planned = model.planned_inputs(); !planned.empty()) {
    throw UsageError(
        fmt::format("input '{0}': shapes follow from its values, so --prepare needs every input: "
                    "give it as -i {0}:FILE",
                    planned.front()));
  }
  const std::vector<Device> devices = open_devices(options.device);
  const CompiledModel compiled = model.compile(devices, compile);
  log::info("{}", model.kernels_line(compiled.report()));
  const CompileReport::Kernels generic = prepare_interim_kernels(devices.front());
  const int from_cache = generic.from_memory + generic.from_disk;
  log::info("generic kernels: {} from cache, {} built", from_cache, generic.built);
  if (for_people(options.format)) return 0;
  const Json value = {{"device", Json::parse(compiled.device().json())},
                      {"kernels", kernels_json(compiled.report())},
                      {"generic_kernels", {{"from_cache", from_cache}, {"built", generic.built}}}};
  emit(to_text(value, options.format), "");
  return 0;
}

}  // namespace morton::cli
