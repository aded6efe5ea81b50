// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/example_runs.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "training/data/example_writer.hpp"

namespace morton {
using namespace api;

PortInfo api::only_input(const std::vector<PortInfo>& inputs) {
  if (inputs.size() == 1 && inputs[0].dtype == DType::f32 && !inputs[0].shape.empty()) {
    return inputs[0];
  }
  const std::string found = inputs.size() != 1 ? std::to_string(inputs.size()) + " inputs"
                                               : "the input '" + inputs[0].name + "', " +
                                                     std::string(name_of(inputs[0].dtype)) + " " +
                                                     to_string(inputs[0].shape);
  throw UsageError("the model has " + found +
                   "; examples go to a model with one input of f32, [batch, ...]");
}

std::int64_t api::most_examples(const Dataset& data, const ExampleOptions& options) {
  if (options.examples < 1) throw UsageError(setting("examples") + ": expected 1 or more");
  if (data.size() < 1) throw UsageError(data.where + ": holds no examples");
  return std::min(options.examples, data.size());
}

InputRuns api::runs_of(const std::string& input, const Shape& shape, const Dataset& data,
                       const ExampleOptions& options) {
  const std::int64_t most = most_examples(data, options);
  const std::int64_t batch = shape.front();
  if (batch > most) {
    throw UsageError("the model takes " + std::to_string(batch) + " examples at a time, and " +
                     "there are " + std::to_string(most));
  }
  const auto writer = std::make_shared<const training::ExampleWriter>(
      data, shape, training::Normalization{options.mean, options.deviation});
  InputRuns runs;
  runs.runs = most / batch;
  runs.examples = runs.runs * batch;
  // Spread over the data: folders of pictures have one class after the other.
  const auto place_of = [all = data.size(), shown = runs.examples](std::int64_t example) {
    return example * all / shown;
  };
  runs.inputs = [=](std::int64_t run) {
    const training::PictureWindow middle =
        training::middle_window(writer->picture(), writer->input());
    Tensor inputs = Tensor::allocate(DType::f32, shape);
    for (std::int64_t row = 0; row < batch; ++row) {
      writer->write_input(place_of(run * batch + row), middle, row, inputs);
    }
    return std::vector<NamedTensor>{{input, std::move(inputs)}};
  };
  return runs;
}

InputRuns example_runs(const CompiledModel& model, const Dataset& data,
                       const ExampleOptions& options) {
  const PortInfo input = only_input(model.inputs());
  return runs_of(input.name, input.shape, data, options);
}

}  // namespace morton
