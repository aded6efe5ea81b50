// SPDX-License-Identifier: Apache-2.0
#include "morton/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "api/inside.hpp"
#include "autodiff/losses.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "graph/graph.hpp"
#include "morton/session.hpp"
#include "training/data/batches.hpp"

namespace morton {
using namespace api;
namespace {

/// How a model's ports lie.
struct Form {
  std::int64_t outputs = 1;     ///< for an example
  bool has_batch_last = false;  ///< examples are columns of matrices
};

/// Of a model with one input and one output; throws UsageError for a model of another form.
Form form_of(const std::vector<PortInfo>& inputs, const std::vector<PortInfo>& outputs) {
  if (inputs.size() != 1 || outputs.size() != 1 || inputs[0].dtype != DType::f32 ||
      outputs[0].dtype != DType::f32) {
    throw UsageError("evaluation: the model has " + std::to_string(inputs.size()) + " inputs and " +
                     std::to_string(outputs.size()) + " outputs; expected one of each, f32");
  }
  const Shape& input = inputs[0].shape;
  const Shape& output = outputs[0].shape;
  if (input.size() == 2 && output.size() == 2 && input[0] != output[0] && input[1] == output[1]) {
    return {output[0], true};
  }
  const bool rows = !input.empty() && !output.empty() && output[0] == input[0] && output[0] >= 1;
  const std::int64_t each = output.size() >= 2 ? output[1] : 1;
  if (!rows || each < 1 || element_count(output) != output[0] * each) {
    throw UsageError("evaluation: the model makes " + to_string(output) + " of " +
                     to_string(input) + "; expected [batch, classes] of [batch, ...]");
  }
  return {each, false};
}

/// A matrix of f32 with rows and columns exchanged.
Tensor transposed(const Tensor& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.shape()[0]);
  const auto columns = static_cast<std::size_t>(matrix.shape()[1]);
  Tensor result = Tensor::allocate(DType::f32, {matrix.shape()[1], matrix.shape()[0]});
  const auto from = matrix.as<float>();
  const auto to = result.as_mutable<float>();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      to[column * rows + row] = from[row * columns + column];
    }
  }
  return result;
}

void require_numbers(std::span<const float> values, const Dataset& data, std::int64_t example) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return std::isnan(value); });
  if (bad == values.end()) return;
  throw ModelError("evaluation: the model's answer to example " + std::to_string(example) + " of " +
                   data.where + " is not a number");
}

/// The class of the greatest value; of a single one, the class by the threshold.
std::int64_t answer_of(std::span<const float> values, double threshold) {
  if (values.size() == 1) return values.front() > threshold ? 1 : 0;
  return std::max_element(values.begin(), values.end()) - values.begin();
}

}  // namespace

Evaluation evaluate(const CompiledModel& model, const Dataset& data,
                    const EvaluationOptions& options) {
  const Form form = form_of(model.inputs(), model.outputs());
  const std::int64_t each = form.outputs;
  Evaluation result;
  result.classes = std::max<std::int64_t>(each, 2);
  require_labels_below(data, result.classes);
  const PortInfo input = model.inputs().front();
  Shape in_rows = input.shape;
  if (form.has_batch_last) std::ranges::reverse(in_rows);
  const ExampleWriter writer(data, in_rows, {options.mean, options.deviation});
  const std::int64_t batch = in_rows[0];
  const auto classes = static_cast<std::size_t>(result.classes);
  result.confusion.assign(classes * classes, 0);
  Tensor inputs = Tensor::allocate(DType::f32, in_rows);
  Tensor labels = Tensor::allocate(DType::i32, {batch});
  Session session(model);
  for (std::int64_t first = 0; first < data.size(); first += batch) {
    const std::int64_t rows = fill_in_order(writer, first, inputs, labels);
    const NamedTensor given{input.name, form.has_batch_last ? transposed(inputs) : inputs};
    Tensor answers = session.run({&given, 1}).front().tensor;
    if (form.has_batch_last) answers = transposed(answers);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto values = answers.as<float>().subspan(static_cast<std::size_t>(row * each),
                                                      static_cast<std::size_t>(each));
      require_numbers(values, data, first + row);
      const std::int64_t answer = answer_of(values, options.threshold);
      const std::int64_t truth = labels.as<std::int32_t>()[static_cast<std::size_t>(row)];
      ++result.confusion[static_cast<std::size_t>(truth * result.classes + answer)];
      result.right += answer == truth ? 1 : 0;
    }
    result.examples += rows;
    if (options.progress) {
      options.progress(static_cast<double>(result.examples) / static_cast<double>(data.size()));
    }
  }
  return result;
}

double answer_threshold(const Model& model) {
  if (Inside::of(model).outputs.size() != 1) return 0.0;
  const Node* last = origin_of(Inside::of(model), Inside::of(model).outputs.front());
  return last != nullptr && last->op == "Sigmoid" ? 0.5 : 0.0;
}

}  // namespace morton
