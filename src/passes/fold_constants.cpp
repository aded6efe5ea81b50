// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/checked.hpp"
#include "ops/operator.hpp"
#include "passes/passes.hpp"

namespace morton {
namespace {

constexpr std::int64_t kLargestResultBytes = std::int64_t{64} << 20;

bool can_fold(const Graph& graph, const Node& node) {
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    if (graph.tensor(id).kind != GraphTensor::Kind::constant) return false;
  }
  const TensorId output = node.outputs[0];
  if (node.outputs.size() != 1 || output == kNoTensor) return false;
  if (graph.is_result(output)) return false;
  const GraphTensor& result = graph.tensor(output);
  const bool computes = !operator_of(node).alias;
  if (computes && result.dtype != DType::f32) return false;
  return checked_mul(element_count(result.shape), size_of(result.dtype), "fold_constants") <=
         kLargestResultBytes;
}

Tensor fold(const Graph& graph, const Node& node) {
  const Shape& shape = graph.tensor(node.outputs[0]).shape;
  if (operator_of(node).alias && node.epilogue.is_identity()) {
    return graph.tensor(node.inputs[0]).data.reshaped(shape);
  }
  std::vector<ReferenceTensor> inputs;
  for (const TensorId id : node.inputs) {
    inputs.push_back(id == kNoTensor ? ReferenceTensor{} : to_reference(graph.tensor(id).data));
  }
  const ReferenceTensor value = reference(graph, node, inputs);
  Tensor result = Tensor::allocate(DType::f32, shape);
  for (std::size_t i = 0; i < value.value.size(); ++i) {
    result.set(static_cast<std::int64_t>(i), value.value[i]);
  }
  return result;
}

}  // namespace

int fold_constants(Graph& graph, const PassOptions& /*options*/) {
  std::vector<Node> kept;
  int folded = 0;
  for (const Node& node : graph.nodes) {
    if (!can_fold(graph, node)) {
      kept.push_back(node);
      continue;
    }
    Tensor value = fold(graph, node);
    GraphTensor& tensor = graph.tensor(node.outputs[0]);
    tensor.kind = GraphTensor::Kind::constant;
    tensor.data = std::move(value);
    ++folded;
  }
  graph.nodes = std::move(kept);
  return folded;
}

}  // namespace morton
