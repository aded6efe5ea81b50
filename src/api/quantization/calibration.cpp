// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/calibration.hpp"

#include <algorithm>

#include "api/inside.hpp"
#include "api/quantization/example_runs.hpp"
#include "morton/session.hpp"

namespace morton::api {
namespace {

constexpr std::int64_t kUsualBatch = 32;

ExampleOptions examples_of(const QuantizeOptions& options) {
  return {options.mean, options.deviation, options.examples};
}

Shape shape_of_batch(const Model& model, const Dataset& data, const QuantizeOptions& options) {
  Shape shape = shape_for(data, only_input(model.inputs()).shape);
  const std::int64_t most = most_examples(data, examples_of(options));
  if (shape.front() < 0) shape.front() = std::min(kUsualBatch, most);
  return shape;
}

}  // namespace

void show(Graph& graph, const std::set<TensorId>& tensors) {
  for (const TensorId id : tensors) {
    const bool is_computed = graph.tensor(id).kind == GraphTensor::Kind::activation;
    if (is_computed && !graph.is_result(id)) graph.outputs.push_back(id);
  }
}

Calibration::Calibration(const Model& model, const Device& device, const Dataset& data,
                         const QuantizeOptions& options, int walks)
    : device_(device),
      input_(only_input(model.inputs()).name),
      shape_(shape_of_batch(model, data, options)),
      batches_(runs_of(input_, shape_, data, examples_of(options))),
      progress_(options.progress),
      all_(static_cast<double>(walks) * static_cast<double>(batches_.runs)) {}

void Calibration::walk(const Graph& graph, const std::function<void(const BatchValues&)>& look) {
  CompileOptions options;
  // These graphs run a few times and never again: kernels of their own would take longer to build.
  options.start = CompileOptions::Start::interim_alone;
  options.shapes[input_] = shape_;
  Session session(compile(Inside::make(graph), device_, options));
  for (std::int64_t batch = 0; batch < batches_.runs; ++batch) {
    const std::vector<NamedTensor> inputs = batches_.inputs(batch);
    BatchValues values{{input_, inputs.front().tensor}};
    for (NamedTensor& output : session.run(inputs)) {
      values.insert_or_assign(output.name, std::move(output.tensor));
    }
    look(values);
    ++done_;
    if (progress_) progress_(done_ / all_);
  }
}

}  // namespace morton::api
