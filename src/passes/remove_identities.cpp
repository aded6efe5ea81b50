// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/rooms.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

constexpr std::array<std::string_view, 2> kAlways{"Identity", "Dropout"};
/// These keep their elements in order, so where the shape stays, everything stays.
constexpr std::array<std::string_view, 6> kWhereShapeStays{"Reshape",   "Flatten", "Squeeze",
                                                           "Unsqueeze", "Expand",  "Tile"};
constexpr std::array<std::string_view, 5> kOfOneInput{"Concat", "Sum", "Mean", "Max", "Min"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const std::string& op) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

bool keeps_order(const Node& node, std::size_t rank) {
  std::vector<std::int64_t> reversed;
  for (std::size_t d = rank; d > 0; --d) reversed.push_back(static_cast<std::int64_t>(d) - 1);
  const auto order = integers_of(node, "perm", reversed);
  return std::is_sorted(order.begin(), order.end());
}

bool pads_nothing(const Graph& graph, const Node& node) {
  const auto pads = node.inputs.size() > 1 ? constant_integers(graph, node.inputs[1])
                                           : integers_of(node, "pads", {});
  return !pads.empty() &&
         std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad == 0; });
}

/// True when the node's only output is input 0 as it is. Shapes are known.
bool does_nothing(const Graph& graph, const Node& node) {
  if (!node.epilogue.is_identity() || node.outputs.size() != 1) return false;
  if (node.outputs[0] == kNoTensor || node.inputs.empty() || node.inputs[0] == kNoTensor) {
    return false;
  }
  const GraphTensor& from = graph.tensor(node.inputs[0]);
  const GraphTensor& to = graph.tensor(node.outputs[0]);
  if (from.dtype != to.dtype) return false;
  if (is_one_of(kAlways, node.op)) return true;
  if (from.shape != to.shape) return false;
  if (is_one_of(kOfOneInput, node.op)) return node.inputs.size() == 1;
  if (node.op == "Transpose") return keeps_order(node, from.shape.size());
  if (node.op == "Pad") return pads_nothing(graph, node);
  return node.op == "Cast" || is_one_of(kWhereShapeStays, node.op);
}

}  // namespace

int remove_identities(Graph& graph, const PassOptions& /*options*/) {
  int removed = 0;
  for (NodeId n(0); has_node(graph, n);) {
    const Node& node = graph.node(n);
    if (does_nothing(graph, node) && bypass(graph, n, node.inputs[0])) {
      ++removed;
    } else {
      n = n.moved(1);
    }
  }
  return removed;
}

}  // namespace morton::passes
