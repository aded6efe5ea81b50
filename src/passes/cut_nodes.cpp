// SPDX-License-Identifier: Apache-2.0
#include "passes/cut_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/numbers/checked.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// Parts of channels and columns are as long as kernels' vectors and blocks, or multiples.
constexpr std::int64_t kWholeBlocks = 16;

const Shape& shape_of_input(const Graph& graph, const Node& node, std::size_t input) {
  return graph.tensor(node.inputs[input]).shape;
}

/// Adds to `cut` the inputs from `first` on, which are broadcast against the result. False where
/// one has neither the result's extent nor 1.
bool add_broadcast(const Graph& graph, const Node& node, std::size_t first, Cut& cut) {
  const Shape& result = graph.tensor(node.outputs[0]).shape;
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    const Shape& shape = shape_of_input(graph, node, i);
    if (shape.size() > result.size()) return false;
    const std::size_t missing = result.size() - shape.size();
    if (cut.dimension < missing || shape[cut.dimension - missing] == 1) continue;
    if (shape[cut.dimension - missing] != result[cut.dimension]) return false;
    cut.inputs.push_back({i, cut.dimension - missing, cut.unit});
  }
  return true;
}

/// Collects the cuts of one node.
class Cuts {
 public:
  Cuts(const Graph& graph, const Node& node)
      : graph_(graph), node_(node), result_(graph.tensor(node.outputs[0]).shape) {}

  /// A cut along a dimension of the result. It says how the inputs before `broadcast` are cut;
  /// those from there on are broadcast against the result.
  void add(Cut cut, std::size_t broadcast) {
    cut.units = result_[cut.dimension] / cut.unit;
    if (cut.units < 2 || !add_broadcast(graph_, node_, broadcast, cut)) return;
    found_.push_back(std::move(cut));
  }
  /// Operands are cut as `cut` says; what the epilogue reads is broadcast.
  void add(Cut cut) { add(std::move(cut), node_.operand_count()); }

  void add_convolution() {
    const std::int64_t groups = integer_of(node_, "group", 1);
    add({.dimension = 0, .inputs = {{0, 0}}});
    Cut cut{.dimension = 1, .cuts_groups = groups > 1};
    if (cut.cuts_groups) {
      cut.unit = result_[1] / groups;
      cut.inputs.push_back({0, 1, shape_of_input(graph_, node_, 0)[1] / groups});
    }
    cut.inputs.push_back({1, 0, cut.unit});
    const bool has_bias = node_.operand_count() > 2 && node_.inputs[2] != kNoTensor;
    if (has_bias) cut.inputs.push_back({2, 0, cut.unit});
    add(std::move(cut));
  }

  void add_product() {
    const std::size_t rank = result_.size();
    const Shape& left = shape_of_input(graph_, node_, 0);
    const Shape& right = shape_of_input(graph_, node_, 1);
    if (left.size() < 2 || right.size() < 2) return;
    for (std::size_t d = 0; d + 2 < rank; ++d) add({.dimension = d}, 0);
    add({.dimension = rank - 2, .inputs = {{0, left.size() - 2}}});
    add({.dimension = rank - 1, .inputs = {{1, right.size() - 1}}});
  }

  void add_gemm() {
    for (const std::size_t d : {std::size_t{0}, std::size_t{1}}) {
      const bool turned = integer_of(node_, d == 0 ? "transA" : "transB", 0) != 0;
      add({.dimension = d, .inputs = {{d, turned ? 1 - d : d}}}, 2);
    }
  }

  void add_pool() {
    for (const std::size_t d : {std::size_t{0}, std::size_t{1}}) {
      add({.dimension = d, .inputs = {{0, d}}});
    }
  }

  void add_elementwise() {
    for (std::size_t d = 0; d < result_.size(); ++d) add({.dimension = d}, 0);
  }

  [[nodiscard]] std::vector<Cut> take() { return std::move(found_); }

 private:
  const Graph& graph_;
  const Node& node_;
  const Shape& result_;
  std::vector<Cut> found_;
};

/// Whether each element of the result follows from the elements that broadcasting puts there.
/// Elementwise operators with a shape rule of their own place their operands otherwise.
bool is_by_element(const Node& node) {
  const ops::Operator& known = ops::operator_of(node);
  return known.chain != nullptr && known.infer == nullptr;
}

/// How many units each part has.
std::vector<std::int64_t> lengths_of(const Cut& cut, std::int64_t pieces) {
  std::int64_t length = ceil_div(cut.units, std::min(pieces, cut.units));
  if (cut.unit == 1 && cut.dimension > 0 && length > kWholeBlocks) {
    length = round_up(length, kWholeBlocks);
  }
  std::vector<std::int64_t> lengths;
  for (std::int64_t begin = 0; begin < cut.units; begin += length) {
    lengths.push_back(std::min(length, cut.units - begin));
  }
  return lengths;
}

/// The stretch of `data` from `begin` on, along one dimension; rows are not copied.
Tensor stretch_of(const Tensor& data, std::size_t dimension, std::int64_t begin,
                  std::int64_t length) {
  if (dimension == 0) return data.rows(begin, length);
  Shape shape = data.shape();
  const std::int64_t extent = std::exchange(shape[dimension], length);
  Tensor part = Tensor::allocate(data.dtype(), shape);
  std::size_t rows = 1;
  for (std::size_t d = 0; d < dimension; ++d) rows *= static_cast<std::size_t>(shape[d]);
  const std::size_t row = data.bytes() / rows;
  const std::size_t one = row / static_cast<std::size_t>(extent);
  const std::size_t bytes = one * static_cast<std::size_t>(length);
  for (std::size_t r = 0; r < rows; ++r) {
    std::memcpy(part.mutable_data() + r * bytes,
                data.data() + r * row + static_cast<std::size_t>(begin) * one, bytes);
  }
  return part;
}

/// Computes one node in parts.
class NodeInParts {
 public:
  NodeInParts(Graph& graph, const Node& node, const Cut& cut, std::int64_t pieces)
      : graph_(graph), node_(node), cut_(cut), lengths_(lengths_of(cut, pieces)) {}

  void write() {
    std::vector<std::vector<TensorId>> inputs;
    for (const CutInput& input : cut_.inputs) inputs.push_back(parts_of(input));
    Node concat{.op = "Concat",
                .name = unused_node_name(graph_, node_.name + "/parts"),
                .outputs = node_.outputs,
                .attributes = {{"axis", static_cast<std::int64_t>(cut_.dimension)}},
                .opset = 13};
    for (std::size_t p = 0; p < lengths_.size(); ++p) {
      Node part = node_;
      part.name = part_name(node_.name, p);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        part.inputs[cut_.inputs[i].input] = inputs[i][p];
      if (cut_.cuts_groups) part.attributes["group"] = lengths_[p];
      const GraphTensor& whole = graph_.tensor(node_.outputs[0]);
      Shape shape = whole.shape;
      shape[cut_.dimension] = lengths_[p] * cut_.unit;
      part.outputs = {add_activation(graph_, part_name(whole.name, p), whole.dtype, shape)};
      concat.inputs.push_back(part.outputs[0]);
      graph_.nodes.push_back(std::move(part));
    }
    graph_.nodes.push_back(std::move(concat));
  }

 private:
  static std::string part_name(const std::string& name, std::size_t part) {
    return name + "/part" + std::to_string(part);
  }

  std::vector<TensorId> parts_of(const CutInput& input) {
    const TensorId whole = node_.inputs[input.input];
    std::vector<TensorId> parts;
    std::vector<std::int64_t> extents;
    std::int64_t begin = 0;
    for (std::size_t p = 0; p < lengths_.size(); ++p) {
      const GraphTensor& tensor = graph_.tensor(whole);
      const std::string name = part_name(tensor.name, p);
      const std::int64_t extent = lengths_[p] * input.unit;
      if (const Tensor* data = cut_ahead(whole)) {
        parts.push_back(
            add_constant(graph_, name, stretch_of(*data, input.dimension, begin, extent)));
      } else {
        Shape shape = tensor.shape;
        shape[input.dimension] = extent;
        parts.push_back(add_activation(graph_, name, tensor.dtype, shape));
      }
      extents.push_back(extent);
      begin += extent;
    }
    if (cut_ahead(whole) == nullptr) {
      const std::string name = node_.name + "/split" + std::to_string(input.input);
      graph_.nodes.push_back(
          {.op = "Split",
           .name = unused_node_name(graph_, name),
           .inputs = {whole},
           .outputs = parts,
           .attributes = {{"axis", static_cast<std::int64_t>(input.dimension)}, {"split", extents}},
           .opset = 11});
    }
    return parts;
  }

  /// The data of a constant whose elements are bytes, whole ones.
  [[nodiscard]] const Tensor* cut_ahead(TensorId id) const {
    const Tensor* data = constant_data(graph_, id);
    if (data == nullptr) return nullptr;
    const std::int64_t bytes = element_count(data->shape()) * size_of(data->dtype());
    return static_cast<std::int64_t>(data->bytes()) == bytes ? data : nullptr;
  }

  Graph& graph_;
  Node node_;
  Cut cut_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace

std::vector<Cut> cuts_of(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1) return {};
  const auto is_output = [&](const StateUpdate& update) { return update.value == node.outputs[0]; };
  if (std::ranges::any_of(graph.updates, is_output)) return {};  // a state is renewed in place
  Cuts cuts(graph, node);
  constexpr std::array kPools{"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};
  if (node.op == "Conv") {
    cuts.add_convolution();
  } else if (node.op == "MatMul") {
    cuts.add_product();
  } else if (node.op == "Gemm") {
    cuts.add_gemm();
  } else if (std::ranges::find(kPools, node.op) != kPools.end()) {
    cuts.add_pool();
  } else if (is_by_element(node)) {
    cuts.add_elementwise();
  }
  return cuts.take();
}

bool cuts_weights(const Graph& graph, const Node& node, const Cut& cut) {
  return std::ranges::any_of(cut.inputs, [&](const CutInput& input) {
    return constant_data(graph, node.inputs[input.input]) != nullptr;
  });
}

int cut_nodes(Graph& graph, const PassOptions& options) {
  int cut = 0;
  if (options.pieces.empty()) return cut;
  // Parts stand behind all others, and may be cut again.
  for (NodeId n(0); has_node(graph, n);) {
    const auto pieces = options.pieces.find(graph.node(n).name);
    std::vector<Cut> ways =
        pieces == options.pieces.end() ? std::vector<Cut>{} : cuts_of(graph, graph.node(n));
    if (options.weights_in_pieces.contains(graph.node(n).name)) {
      std::erase_if(ways, [&](const Cut& way) { return !cuts_weights(graph, graph.node(n), way); });
    }
    if (ways.empty()) {
      n = n.moved(1);
      continue;
    }
    // The first that gives as many parts as are wanted, else the one that gives most.
    const auto enough = [&](const Cut& way) { return way.units >= pieces->second; };
    auto way = std::ranges::find_if(ways, enough);
    if (way == ways.end()) way = std::ranges::max_element(ways, {}, &Cut::units);
    const Node node = graph.node(n);
    remove_node(graph, n);
    NodeInParts(graph, node, *way, pieces->second).write();
    ++cut;
  }
  if (cut > 0) sort_topologically(graph);
  return cut;
}

}  // namespace morton::passes
