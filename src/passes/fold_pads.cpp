// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// A Pad with a constant around an image: how much before and behind each spatial dimension.
struct ImagePad {
  std::vector<std::int64_t> before, after;
  double value = 0.0;
};

/// All pads as the node states them, and the value; nothing where they are not known.
std::optional<std::pair<std::vector<std::int64_t>, double>> stated(const Graph& graph,
                                                                   const Node& pad) {
  if (NodeView(graph, pad).opset() < 11) {
    return {{integers_of(pad, "pads", {}), real_of(pad, "value", 0.0)}};
  }
  const bool has_axes = pad.inputs.size() > 3 && pad.inputs[3] != kNoTensor;
  if (pad.inputs.size() < 2 || has_axes) return {};
  double value = 0.0;
  if (pad.inputs.size() > 2 && pad.inputs[2] != kNoTensor) {
    const Tensor* data = constant_data(graph, pad.inputs[2]);
    if (data == nullptr || data->size() != 1) return {};
    value = data->at(0);
  }
  return {{constant_integers(graph, pad.inputs[1]), value}};
}

std::optional<ImagePad> image_pad_of(const Graph& graph, const Node& node) {
  if (node.op != "Pad" || text_of(node, "mode", "constant") != "constant" ||
      !node.epilogue.is_identity()) {
    return {};
  }
  const auto whole = stated(graph, node);
  const std::size_t rank = graph.tensor(node.inputs[0]).shape.size();
  if (!whole || rank < 3 || whole->first.size() != 2 * rank) return {};
  const auto& pads = whole->first;
  ImagePad result;
  result.value = whole->second;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t before = pads[d];
    const std::int64_t after = pads[d + rank];
    if (before < 0 || after < 0 || (d < 2 && before + after > 0)) return {};
    if (d < 2) continue;
    result.before.push_back(before);
    result.after.push_back(after);
  }
  return result;
}

/// True where no element of the tensor can lie below 0.
bool never_negative(const Graph& graph, TensorId id) {
  static constexpr std::array<std::string_view, 6> kOps{"Relu", "Sigmoid",     "Abs",
                                                        "Exp",  "HardSigmoid", "Softplus"};
  const NodeId producer = graph.producer(id);
  if (!producer) return false;
  const Node& node = graph.node(producer);
  if (!node.epilogue.is_identity()) return false;
  return std::find(kOps.begin(), kOps.end(), node.op) != kOps.end();
}

/// What a MaxPool never takes anyway: nothing lies below it, and every window holds an element of
/// the image, since all pads are less than the filter.
bool loses_every_maximum(const Graph& graph, const Node& pad, const ImagePad& amount,
                         const std::vector<std::int64_t>& all_pads,
                         const std::vector<std::int64_t>& filter) {
  if (amount.value == -std::numeric_limits<double>::infinity()) return true;
  if (amount.value != 0.0 || !never_negative(graph, pad.inputs[0])) return false;
  for (std::size_t i = 0; i < all_pads.size(); ++i) {
    if (all_pads[i] >= filter[i % filter.size()]) return false;
  }
  return true;
}

/// The node that reads the Pad with the pads as its own, if it then computes the same.
std::optional<Node> absorbed(const Graph& graph, const Node& pad, const ImagePad& amount,
                             const Node& reader) {
  const std::size_t rank = amount.before.size();
  const std::string mode = text_of(reader, "auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID") return {};
  auto pads = integers_of(reader, "pads", std::vector<std::int64_t>(2 * rank, 0));
  if (pads.size() != 2 * rank || reader.inputs[0] != pad.outputs[0]) return {};
  const bool padded = std::any_of(pads.begin(), pads.end(), [](auto one) { return one != 0; });
  for (std::size_t d = 0; d < rank; ++d) {
    pads[d] += amount.before[d];
    pads[d + rank] += amount.after[d];
  }
  Node changed = reader;
  if (reader.op == "AveragePool") {
    // Zeros of the Pad count, so all of the padding must count.
    if (amount.value != 0.0 || (padded && integer_of(reader, "count_include_pad", 0) == 0)) {
      return {};
    }
    changed.attributes["count_include_pad"] = std::int64_t{1};
  } else if (reader.op == "MaxPool") {
    const auto filter = integers_of(reader, "kernel_shape", {});
    // The second output counts positions in the padded image.
    if (filter.size() != rank || reader.outputs.size() > 1) return {};
    if (!loses_every_maximum(graph, pad, amount, pads, filter)) return {};
  } else if (reader.op != "Conv" || amount.value != 0.0) {
    return {};
  }
  changed.attributes.erase("auto_pad");
  changed.attributes["pads"] = pads;
  changed.inputs[0] = pad.inputs[0];
  changed.fused.push_back(pad.name);
  return changed;
}

/// Rounding the number of windows up may drop the last one where padding takes the place of rows,
/// and a window may not pad as much as a Pad does.
bool keeps_its_shape(const Graph& graph, const Node& node) {
  try {
    return infer(graph, node)[0].shape == graph.tensor(node.outputs[0]).shape;
  } catch (const ModelError&) {
    return false;
  } catch (const UnsupportedError&) {
    return false;
  }
}

}  // namespace

int fold_pads(Graph& graph, const PassOptions& /*options*/) {
  int folded = 0;
  for (NodeId n(0); has_node(graph, n);) {
    const Node& pad = graph.node(n);
    const auto amount = image_pad_of(graph, pad);
    const NodeId reader = amount ? sole_reader(graph, pad.outputs[0]) : NodeId();
    auto changed = reader ? absorbed(graph, pad, *amount, graph.node(reader)) : std::nullopt;
    if (!changed || !keeps_its_shape(graph, *changed)) {
      n = n.moved(1);
      continue;
    }
    graph.node(reader) = std::move(*changed);
    remove_node(graph, n);
    ++folded;
  }
  return folded;
}

}  // namespace morton::passes
