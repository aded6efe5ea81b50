// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/calibration.hpp"

#include <algorithm>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "morton/session.hpp"

namespace morton::api {
namespace {

constexpr std::int64_t kUsualBatch = 32;

PortInfo only_input(const Model& model) {
  const std::vector<PortInfo> inputs = model.inputs();
  if (inputs.size() == 1 && inputs[0].dtype == DType::f32 && !inputs[0].shape.empty()) {
    return inputs[0];
  }
  const std::string found = inputs.size() != 1 ? std::to_string(inputs.size()) + " inputs"
                                               : "the input '" + inputs[0].name + "', " +
                                                     std::string(name_of(inputs[0].dtype)) + " " +
                                                     to_string(inputs[0].shape);
  throw UsageError("quantization: the model has " + found +
                   "; expected one input of f32, [batch, ...]");
}

Shape shape_of_batch(const Model& model, const Dataset& data, const QuantizeOptions& options) {
  if (options.examples < 1) throw UsageError(setting("examples") + ": expected 1 or more");
  Shape shape = shape_for(data, only_input(model).shape);
  const std::int64_t most = std::min(options.examples, data.size());
  if (shape.front() < 0) shape.front() = std::min(kUsualBatch, most);
  if (shape.front() > most) {
    throw UsageError("quantization: the model takes " + std::to_string(shape.front()) +
                     " examples at a time, and there are " + std::to_string(most));
  }
  return shape;
}

}  // namespace

Calibration::Calibration(const Model& model, const Device& device, const Dataset& data,
                         const QuantizeOptions& options, int walks)
    : device_(device),
      input_(only_input(model).name),
      shape_(shape_of_batch(model, data, options)),
      writer_(data, shape_, {options.mean, options.deviation}),
      batches_(std::min(options.examples, data.size()) / shape_.front()),
      progress_(options.progress),
      all_(static_cast<double>(walks) * static_cast<double>(batches_)) {}

void Calibration::walk(const Graph& graph, const std::function<void(const BatchValues&)>& look) {
  CompileOptions options;
  // These graphs run a few times and never again: kernels of their own would take longer to build.
  options.start = CompileOptions::Start::interim_alone;
  options.shapes[input_] = shape_;
  Session session(compile(Inside::make(graph), device_, options));
  Tensor inputs = Tensor::allocate(DType::f32, shape_);
  const training::PictureWindow middle =
      training::middle_window(writer_.picture(), writer_.input());
  for (std::int64_t batch = 0; batch < batches_; ++batch) {
    for (std::int64_t row = 0; row < shape_.front(); ++row) {
      writer_.write_input(batch * shape_.front() + row, middle, row, inputs);
    }
    const NamedTensor given{input_, inputs};
    BatchValues values{{input_, inputs}};
    for (NamedTensor& output : session.run({&given, 1})) {
      values.insert_or_assign(output.name, std::move(output.tensor));
    }
    look(values);
    ++done_;
    if (progress_) progress_(done_ / all_);
  }
}

}  // namespace morton::api
