// SPDX-License-Identifier: Apache-2.0
#include "support/compare.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "passes/passes.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kShown = 5;

template <typename Number, typename Tolerance>
Comparison compare_all(const ReferenceTensor& expected, std::span<const Number> got,
                       const Tolerance& tolerance) {
  Comparison result;
  result.count = static_cast<std::int64_t>(expected.value.size());
  std::ostringstream text;
  text.precision(9);
  if (got.size() != expected.value.size()) {
    text << "expected " << expected.value.size() << " elements, got " << got.size() << "\n";
    result.wrong = result.count;
    result.text = text.str();
    return result;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = tolerance(i);
    const auto value = static_cast<double>(got[i]);
    if (matches(expected.value[i], allowed, value)) {
      const double error = std::fabs(value - expected.value[i]);
      if (error > 0 && allowed > 0) result.worst = std::max(result.worst, error / allowed);
    } else if (++result.wrong <= kShown) {
      text << "element " << i << " of " << to_string(expected.shape) << ": expected "
           << expected.value[i] << " +- " << allowed << ", got " << value << "\n";
    }
  }
  if (result.wrong > 0) text << result.wrong << " of " << result.count << " elements are wrong\n";
  result.text = text.str();
  return result;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
  return values;
}

}  // namespace

bool matches(double expected, double tolerance, double got) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  if (!(tolerance < std::numeric_limits<double>::infinity())) return false;
  const double error = std::fabs(got - expected);
  return error <= tolerance;
}

Comparison compare(const ReferenceTensor& expected, std::span<const float> got, double scale) {
  return compare_all(expected, got, [&](std::size_t i) { return scale * expected.error[i]; });
}

Comparison compare(const ReferenceTensor& expected, const Tensor& got, double scale) {
  return compare_all(expected, std::span<const double>(values_of(got)),
                     [&](std::size_t i) { return scale * expected.error[i]; });
}

Comparison compare_exactly(const ReferenceTensor& expected, const Tensor& got) {
  return compare_all(expected, std::span<const double>(values_of(got)),
                     [](std::size_t) { return 0.0; });
}

Comparison compare_exactly(const ReferenceTensor& expected, std::span<const float> got) {
  return compare_all(expected, got, [](std::size_t) { return 0.0; });
}

std::vector<ReferenceTensor> reference_outputs(const Graph& given,
                                               std::span<const NamedTensor> inputs,
                                               const TransformError& transform) {
  Graph graph = given;
  // What a kernel transforms may be a convolution inside an operator.
  if (transform.slack != 1.0) expand_composites(graph, {});
  std::map<TensorId, ReferenceTensor> values;
  for (const TensorId id : graph.tensors.ids()) {
    const GraphTensor& tensor = graph.tensors[id];
    if (tensor.kind == GraphTensor::Kind::constant) {
      values[id] = to_reference(tensor.data);
    }
  }
  for (const NamedTensor& input : inputs)
    values[graph.find(input.name)] = to_reference(input.tensor);
  for (const Node& node : graph.nodes) {
    std::vector<ReferenceTensor> operands;
    for (const TensorId id : node.inputs) {
      if (id != kNoTensor && !values.contains(id)) {
        throw UsageError("reference: no value for '" + graph.tensor(id).name + "'");
      }
      operands.push_back(id == kNoTensor ? ReferenceTensor{} : values[id]);
    }
    auto results = references(graph, node, operands);
    if (node.op == "Conv") widen(results.front(), transform);
    for (std::size_t i = 0; i < results.size() && i < node.outputs.size(); ++i) {
      values[node.outputs[i]] = std::move(results[i]);
    }
  }
  std::vector<ReferenceTensor> outputs;
  for (const TensorId id : graph.outputs) outputs.push_back(values.at(id));
  return outputs;
}

}  // namespace morton::test
