// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/weight_codes.hpp"

namespace morton::passes {
namespace {

// Smaller weights are not worth a kernel of their own, which a device without its own compiler's
// cache builds for a third of a second: 256 KiB of f32.
constexpr std::int64_t kLeastWeights = 65536;

/// A product whose weights are constants in codes.
struct Product {
  WeightCodes weights;
  TensorId bias = kNoTensor;
};

/// The node that makes `id` of others, where only one node reads it.
const Node* sole_producer(const Graph& graph, TensorId id) {
  if (!graph.producer(id) || !sole_reader(graph, id)) return nullptr;
  const Node& node = graph.node(graph.producer(id));
  return node.epilogue.is_identity() ? &node : nullptr;
}

bool swaps_two(const Node& node) {
  return node.op == "Transpose" &&
         integers_of(node, "perm", {1, 0}) == std::vector<std::int64_t>{1, 0};
}

/// The codes of weights `id`, K x N, or N x K where `by_column`.
std::optional<WeightCodes> codes_of_weights(const Graph& graph, TensorId id, bool by_column) {
  if (graph.tensor(id).dtype != DType::f32) return {};
  if (graph.tensor(id).shape.size() != 2 || element_count(graph.tensor(id).shape) < kLeastWeights)
    return {};
  const Node* made = sole_producer(graph, id);
  if (made != nullptr && swaps_two(*made)) {
    made = sole_producer(graph, made->inputs[0]);
    by_column = !by_column;
  }
  if (made == nullptr || made->op != "DequantizeLinear") return {};
  return codes_behind(graph, *made, by_column);
}

std::optional<Product> product_of(const Graph& graph, const Node& node) {
  const bool is_blocks = node.op == "com.microsoft.MatMulNBits";
  const bool is_gemm = node.op == "Gemm";
  if (!is_blocks && !is_gemm && node.op != "MatMul") return {};
  const GraphTensor& rows = graph.tensor(node.inputs[0]);
  if (rows.shape.size() < 2 || element_count(rows.shape) == 0) return {};
  if (is_blocks) {
    const ops::BlockWeights of = ops::block_weights_of(ops::NodeView(graph, node));
    if (of.k * of.n < kLeastWeights) return {};
    auto weights = codes_of_blocks(graph, node, of);
    if (!weights) return {};
    const std::size_t bias = ops::BlockInput::bias;
    return Product{std::move(*weights), node.inputs.size() > bias ? node.inputs[bias] : kNoTensor};
  }
  const bool is_plain = integer_of(node, "transA", 0) == 0 && real_of(node, "alpha", 1.0) == 1.0 &&
                        real_of(node, "beta", 1.0) == 1.0;
  if (rows.dtype != DType::f32 || !is_plain) return {};
  auto weights =
      codes_of_weights(graph, node.inputs[1], is_gemm && integer_of(node, "transB", 0) != 0);
  if (!weights) return {};
  return Product{std::move(*weights), node.inputs.size() > 2 ? node.inputs[2] : kNoTensor};
}

void rewrite(Graph& graph, NodeId n, Product product) {
  const Node node = graph.node(n);
  const GraphTensor result = graph.tensor(node.outputs[0]);
  ops::GraphWriter to(graph, node.name.empty() ? node.op : node.name);
  TensorId computed =
      coded_product(to, to.converted(node.inputs[0], DType::f32), std::move(product.weights));
  if (product.bias != kNoTensor) {
    computed = to.apply(ScalarOp::add, {computed, to.converted(product.bias, DType::f32)});
  }
  replace_result(graph, node.outputs[0], to.converted(computed, result.dtype));
}

}  // namespace

int keep_codes(Graph& graph, const PassOptions& options) {
  return rewrite_found(
      graph, options, [&](const Node& node) { return product_of(graph, node); },
      [&](NodeId id, Product product) { rewrite(graph, id, std::move(product)); });
}

}  // namespace morton::passes
