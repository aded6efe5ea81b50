// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// Which input of a Mul is one number for each channel of a single image, and which is the image.
struct GatedImage {
  TensorId image, gate;
};

bool is_gate(const Shape& gate, const Shape& image) {
  if (gate.size() != image.size() || image.size() < 3 || image[0] != 1) return false;
  return gate[0] == 1 && gate[1] == image[1] &&
         std::all_of(gate.begin() + 2, gate.end(), [](std::int64_t extent) { return extent == 1; });
}

std::optional<GatedImage> gated_image(const Graph& graph, const Node& node) {
  if (node.op != "Mul" || !node.epilogue.is_identity()) return {};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const GatedImage found{node.inputs[i], node.inputs[1 - i]};
    const Shape& image = graph.tensor(found.image).shape;
    if (is_gate(graph.tensor(found.gate).shape, image) &&
        image == graph.tensor(node.outputs[0]).shape) {
      return found;
    }
  }
  return {};
}

/// Half of the image's elements is more than all weights: below, the change gains nothing.
bool pays(const Shape& weights, const Shape& image) {
  return 2 * element_count(weights) <= element_count(image);
}

/// The node that computes x * gate feeds one Conv alone, which can take the gate into its weights.
bool fold(Graph& graph, NodeId n) {
  const auto gated = gated_image(graph, graph.node(n));
  if (!gated) return false;
  const NodeId reader = sole_reader(graph, graph.node(n).outputs[0]);
  if (!has_node(graph, reader)) return false;
  const Node& conv = graph.node(reader);
  if (conv.op != "Conv" || conv.inputs[0] != graph.node(n).outputs[0]) return false;
  const TensorId weights = conv.inputs[1];
  if (constant_data(graph, weights) == nullptr || integer_of(conv, "group", 1) != 1) return false;
  const GraphTensor& filters = graph.tensor(weights);
  if (!pays(filters.shape, graph.tensor(gated->image).shape)) return false;
  const TensorId scaled =
      add_activation(graph, filters.name + ".gated", filters.dtype, filters.shape);
  Node& node = graph.node(n);
  node.inputs = {weights, gated->gate};
  node.outputs = {scaled};
  graph.node(reader).inputs[0] = gated->image;
  graph.node(reader).inputs[1] = scaled;
  return true;
}

}  // namespace

int fold_gates(Graph& graph, const PassOptions&) {
  int changes = 0;
  for (NodeId n{0}; has_node(graph, n); n = n.moved(1)) changes += fold(graph, n) ? 1 : 0;
  return changes;
}

}  // namespace morton::passes
