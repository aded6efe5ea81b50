// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_constants.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/checked.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/numbers/small_types.hpp"
#include "base/rooms.hpp"
#include "base/stopwatch.hpp"
#include "formats/load_limits.hpp"
#include "ops/core/operator.hpp"
#include "passes/fold_elementwise.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

/// Each is a double with its error and its origin meanwhile, whatever its type.
constexpr std::int64_t kLargestResultElements = std::int64_t{1} << 24;

bool can_fold(const Graph& graph, const Node& node, std::int64_t most_bytes) {
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    if (graph.tensor(id).kind != GraphTensor::Kind::constant) return false;
  }
  const TensorId output = node.outputs[0];
  if (node.outputs.size() != 1 || output == kNoTensor) return false;
  if (graph.is_result(output)) return false;
  const GraphTensor& result = graph.tensor(output);
  const std::int64_t elements = element_count(result.shape);
  return elements <= kLargestResultElements &&
         checked_mul(elements, size_of(result.dtype), "fold_constants") <= most_bytes;
}

/// Whether every element is what a device would compute: integers beyond 2^53, which the reference
/// rounds to doubles, are not.
bool is_faithful(DType type, const ReferenceTensor& value) {
  return is_real(type) || is_stored_real(type) ||
         (std::ranges::all_of(value.error, [](double error) { return error == 0.0; }) &&
          std::ranges::all_of(value.value,
                              [](double whole) { return std::fabs(whole) < kExactIntegers; }));
}

}  // namespace

std::optional<Tensor> value_of_known(const Graph& graph, const Node& node) {
  const Shape& shape = graph.tensor(node.outputs[0]).shape;
  if (operator_of(node).host.alias && node.epilogue.is_identity()) {
    return graph.tensor(node.inputs[0]).data.reshaped(shape);
  }
  if (auto value = fold_elementwise(graph, node)) return value;
  std::vector<ReferenceTensor> inputs;
  for (const TensorId id : node.inputs) {
    inputs.push_back(id == kNoTensor ? ReferenceTensor{} : to_reference(graph.tensor(id).data));
    if (id != kNoTensor && !is_faithful(graph.tensor(id).dtype, inputs.back())) return {};
  }
  const ReferenceTensor value = reference(graph, node, inputs);
  const DType type = graph.tensor(node.outputs[0]).dtype;
  if (!is_faithful(type, value)) return std::nullopt;
  Tensor result = Tensor::allocate(type, shape);
  for (std::size_t i = 0; i < value.value.size(); ++i) {
    result.set(static_cast<std::int64_t>(i), value.value[i]);
  }
  return result;
}

int fold_constants(Graph& graph, const PassOptions& options) {
  const LoadLimits& limits = options.limits;
  const Stopwatch watch;
  std::vector<Node> kept;
  int folded = 0;
  for (const Node& node : graph.nodes) {
    std::optional<Tensor> value;
    require_seconds(limits, watch.seconds(), "folding of constants");
    if (can_fold(graph, node, limits.folded_bytes)) value = value_of_known(graph, node);
    if (!value) {
      kept.push_back(node);
      continue;
    }
    GraphTensor& tensor = graph.tensor(node.outputs[0]);
    tensor.kind = GraphTensor::Kind::constant;
    tensor.data = std::move(*value);
    ++folded;
  }
  graph.nodes = std::move(kept);
  return folded;
}

}  // namespace morton::passes
