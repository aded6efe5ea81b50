// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_model_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace morton::cli {
namespace {

Json json_of(const BenchSetting& setting, const CompiledModel& model,
             const BenchMeasurement& measured) {
  const CompileReport& report = model.report();
  const Json facts = Json::parse(model.device().json());
  Json inputs = Json::object();
  for (const PortInfo& port : model.inputs()) inputs[port.name] = shape_text(port.shape);
  Json steps = Json::array();
  for (const StepInfo& step : model.steps()) {
    steps.push_back({{"name", step.name}, {"kernel", step.kernel}, {"tunables", step.tunables}});
  }
  return {{"model", setting.model},
          {"inputs", inputs},
          {"seed", setting.seed},
          {"precision", setting.precision},
          {"device",
           {{"id", model.device().id()},
            {"name", model.device().name()},
            {"platform", facts.value("platform", "")},
            {"driver", facts.value("driver_version", "")}}},
          {"cache",
           {{"state", measured.cache},
            {"kernels_from_cache", report.kernels.from_memory + report.kernels.from_disk},
            {"kernels_built", report.kernels.built},
            {"plan_kept", report.plan == CompileReport::PlanOrigin::kept}}},
          {"phases",
           {{"open_device_ms", measured.open_device_ms},
            {"load_ms", measured.load_ms},
            {"compile_ms", measured.compile_ms},
            {"passes_ms", report.times.passes_ms},
            {"plan_ms", report.times.plan_ms},
            {"kernel_build_ms", report.times.build_ms},
            {"upload_ms", report.times.upload_ms},
            {"warm_up_ms", report.times.warm_up_ms},
            {"first_inference_ms", measured.first_inference_ms}}},
          {"clocks",
           {{"host", to_json(measured.host)},
            {"enqueue", to_json(measured.enqueue)},
            {"device", measured.device ? to_json(*measured.device) : Json()}}},
          {"items_per_second", measured.items_per_second},
          {"other_shapes", to_json(measured.other_shapes)},
          {"memory",
           {{"weight_bytes", report.memory.weight_bytes},
            {"activation_bytes", report.memory.activation_bytes},
            {"largest_live_bytes", report.memory.largest_live_bytes},
            {"largest_live_activation_bytes", report.memory.largest_live_activation_bytes},
            {"workspace_bytes", report.memory.workspace_bytes},
            {"largest_live_workspace_bytes", report.memory.largest_live_workspace_bytes},
            {"peak_device_bytes", model.device().peak_bytes()},
            {"loading",
             {{"model_file_bytes", measured.loading.file_bytes},
              {"peak_host_bytes", measured.loading.peak_host_bytes},
              {"of_the_device_bytes", measured.loading.of_the_device_bytes}}},
            {"peak_host_bytes", peak_host_bytes()}}},
          {"by_layer", measured.layers ? to_json(*measured.layers) : Json()},
          {"steps", steps}};
}

Table clocks_table(const BenchMeasurement& measured) {
  Table table;
  table.columns = {{"clock, ms"}};
  for (const char* name : {"n", "mean", "stddev", "min", "p50", "p90", "p95", "p99", "max"}) {
    table.columns.push_back({name, Table::Align::right});
  }
  const auto add = [&](const char* name, const Statistics& s) {
    std::vector<std::string> row{name, std::to_string(s.n)};
    for (const double value : {s.mean, s.stddev, s.min, s.p50, s.p90, s.p95, s.p99, s.max}) {
      row.push_back(number_text(value, 3));
    }
    table.rows.push_back(row);
  };
  add("host", measured.host);
  add("enqueue", measured.enqueue);
  if (measured.device) {
    add("device", *measured.device);
  } else {
    std::vector<std::string> row(table.columns.size(), "n/a");
    row.front() = "device";
    table.rows.push_back(row);
  }
  return table;
}

/// What a session takes. Temporaries lie among activations, or in blocks of their own.
std::string session_text(const CompileReport::Memory& memory) {
  const std::string live_activations = bytes_text(memory.largest_live_activation_bytes);
  const std::string live_workspace = bytes_text(memory.largest_live_workspace_bytes);
  if (memory.workspace_bytes == 0) {
    return fmt::format(
        "activations and workspace {} (largest live set {}; of activations {}, of workspace {})",
        bytes_text(memory.activation_bytes), bytes_text(memory.largest_live_bytes),
        live_activations, live_workspace);
  }
  return fmt::format("activations {} (largest live set {}), workspace {} (largest live set {})",
                     bytes_text(memory.activation_bytes), live_activations,
                     bytes_text(memory.workspace_bytes), live_workspace);
}

std::string text_of(const BenchSetting& setting, const CompiledModel& model,
                    const BenchMeasurement& measured) {
  const CompileReport& report = model.report();
  std::string inputs;
  for (const PortInfo& port : model.inputs()) {
    inputs += fmt::format(" {} {}", port.name, shape_text(port.shape));
  }
  Table facts;
  facts.columns = {{"what"}, {"value"}};
  facts.rows = {
      {"model", setting.model + ":" + inputs},
      {"device", model.device().description()},
      {"precision", setting.precision},
      {"cache", fmt::format("{} ({})", measured.cache, measured.kernels)},
      {"open device", fmt::format("{:.1f} ms", measured.open_device_ms)},
      {"load", fmt::format("{:.1f} ms", measured.load_ms)},
      {"compile", fmt::format("{:.1f} ms, of which kernel build ({}) {:.1f} ms, upload {:.1f} ms, "
                              "warm-up {:.1f} ms",
                              measured.compile_ms, measured.cache, report.times.build_ms,
                              report.times.upload_ms, report.times.warm_up_ms)},
      {"first inference", fmt::format("{:.3f} ms", measured.first_inference_ms)},
      {"throughput",
       fmt::format("{:.1f} items/s (from the host clock's median)", measured.items_per_second)},
      {"device memory",
       fmt::format("weights {}, {}, peak {}", bytes_text(report.memory.weight_bytes),
                   session_text(report.memory), bytes_text(model.device().peak_bytes()))},
      {"host memory", fmt::format("{}; peak of all {}", text_of(measured.loading),
                                  bytes_text(peak_host_bytes()))}};
  std::string text =
      to_text(facts, setting.format) + "\n" + to_text(clocks_table(measured), setting.format);
  if (!measured.other_shapes.empty()) {
    text += "\n" + to_text(to_table(measured.other_shapes), setting.format);
  }
  if (measured.layers) text += "\n" + to_text(*measured.layers, setting.format);
  return text;
}

}  // namespace

std::string report_of(const BenchSetting& setting, const CompiledModel& model,
                      const BenchMeasurement& measured) {
  return for_people(setting.format) ? text_of(setting, model, measured)
                                    : to_text(json_of(setting, model, measured), setting.format);
}

}  // namespace morton::cli
