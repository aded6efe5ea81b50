// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_shapes.hpp"

#include <nlohmann/json.hpp>

#include "bench/figures.hpp"
#include "common/inputs.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"

namespace morton::cli {
namespace {

/// Runs where neither their number nor a duration is given for them.
constexpr std::int64_t kRuns = 10;

OtherShape measure(const GivenModel& given, const CompiledModel& model, const InputShapes& shapes,
                   const MeasureOptions& options) {
  OtherShape result;
  const Stopwatch planning;
  const CompiledModel other = given.with_shapes(model, shapes);
  result.plan_ms = planning.milliseconds();
  result.report = other.report();
  for (const PortInfo& port : other.inputs()) {
    result.inputs += (result.inputs.empty() ? "" : " ") + port.name + " " + shape_text(port.shape);
  }
  const std::vector<NamedTensor> inputs = random_inputs(other.inputs(), options.seed);
  Session session(other);
  const Stopwatch first;
  static_cast<void>(session.run(inputs));
  result.first_inference_ms = first.milliseconds();
  std::vector<double> samples;
  const std::int64_t runs = options.iterations > 0 ? options.iterations : kRuns;
  for (std::int64_t i = 0; i < runs; ++i) {
    const Stopwatch run;
    static_cast<void>(session.run(inputs));
    samples.push_back(run.milliseconds());
  }
  result.host = statistics_of(samples);
  return result;
}

}  // namespace

std::vector<OtherShape> measure_other_shapes(const GivenModel& given, const CompiledModel& model,
                                             const std::vector<InputShapes>& shapes,
                                             const MeasureOptions& options) {
  std::vector<OtherShape> measured;
  for (const InputShapes& other : shapes) measured.push_back(measure(given, model, other, options));
  return measured;
}

Table to_table(const std::vector<OtherShape>& measured) {
  Table table;
  table.columns = {{"also"},
                   {"new plan, ms", Table::Align::right},
                   {"of which planning", Table::Align::right},
                   {"built", Table::Align::right},
                   {"own weights", Table::Align::right},
                   {"activations", Table::Align::right},
                   {"first run, ms", Table::Align::right},
                   {"p50, ms", Table::Align::right}};
  for (const OtherShape& shape : measured) {
    table.rows.push_back(
        {shape.inputs, number_text(shape.plan_ms, 3), number_text(shape.report.times.plan_ms, 3),
         std::to_string(shape.report.kernels.built), bytes_text(shape.report.memory.weight_bytes),
         bytes_text(shape.report.memory.activation_bytes), number_text(shape.first_inference_ms, 3),
         number_text(shape.host.p50, 3)});
  }
  return table;
}

Json to_json(const std::vector<OtherShape>& measured) {
  Json list = Json::array();
  for (const OtherShape& shape : measured) {
    list.push_back({{"inputs", shape.inputs},
                    {"with_shapes_ms", shape.plan_ms},
                    {"passes_ms", shape.report.times.passes_ms},
                    {"plan_ms", shape.report.times.plan_ms},
                    {"kernels_built", shape.report.kernels.built},
                    {"weight_bytes", shape.report.memory.weight_bytes},
                    {"shared_weight_bytes", shape.report.memory.shared_weight_bytes},
                    {"activation_bytes", shape.report.memory.activation_bytes},
                    {"workspace_bytes", shape.report.memory.workspace_bytes},
                    {"first_inference_ms", shape.first_inference_ms},
                    {"host", to_json(shape.host)}});
  }
  return list;
}

}  // namespace morton::cli
