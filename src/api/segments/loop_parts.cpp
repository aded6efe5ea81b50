// SPDX-License-Identifier: Apache-2.0
#include "api/segments/loop_parts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/bodies.hpp"
#include "ops/core/node_view.hpp"
#include "passes/rewrite.hpp"

namespace morton::api {
namespace {

/// Adds to a Scan's body what takes a turn's elements out of a whole input.
class ScanBody {
 public:
  explicit ScanBody(Graph& body) : body_(body) {
    turn_ = add_input("turn", DType::i64);
    condition_ = add_input("condition", DType::boolean);
  }
  [[nodiscard]] TensorId turn() const { return turn_; }
  [[nodiscard]] TensorId condition() const { return condition_; }

  TensorId add_input(const std::string& wish, DType type) {
    GraphTensor tensor;
    tensor.name = unused_tensor_name(body_, wish);
    tensor.dtype = type;
    tensor.kind = GraphTensor::Kind::input;
    return body_.add_tensor(std::move(tensor));
  }

  /// `part`, an input till now, is what `whole` has at the turn's place.
  void take_part(TensorId part, TensorId whole, std::int64_t axis, bool from_back) {
    GraphTensor& tensor = body_.tensor(part);
    tensor.kind = GraphTensor::Kind::activation;
    tensor.declared.clear();
    tensor.shape.clear();
    add_node("Gather", {whole, from_back ? place_from_back() : turn_}, part).attributes["axis"] =
        axis;
  }

  void finish() { body_.nodes.insert(body_.nodes.begin(), first_.begin(), first_.end()); }

 private:
  Node& add_node(const std::string& op, std::vector<TensorId> inputs, TensorId output) {
    Node& node = first_.emplace_back();
    node.op = op;
    node.name = "turn_of_" + body_.tensor(output).name;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.opset = graph::kNewestOpset;
    return node;
  }

  /// -1 - turn, which counts from the back.
  TensorId place_from_back() {
    if (from_back_ != kNoTensor) return from_back_;
    const std::int64_t last = -1;
    const TensorId end = body_.add_tensor(
        graph::constant_tensor(unused_tensor_name(body_, "turn.last"),
                               Tensor::from({}, std::span<const std::int64_t>(&last, 1))));
    GraphTensor place;
    place.name = unused_tensor_name(body_, "turn.from_back");
    from_back_ = body_.add_tensor(std::move(place));
    add_node("Sub", {end, turn_}, from_back_);
    return from_back_;
  }

  Graph& body_;
  TensorId turn_, condition_;
  TensorId from_back_ = kNoTensor;
  std::vector<Node> first_;
};

}  // namespace

LoopParts loop_parts(const Graph& graph, const Node& node) {
  (void)wiring_of(graph, node);
  LoopParts parts{node.op, node.name, *node.bodies.at("body").graph};
  parts.states = node.bodies.at("body").formals() - 2;
  parts.stacked.resize(parts.body.outputs.size() - 1 - parts.states);
  parts.sources.emplace_back();
  for (std::size_t i = 1; i < parts.body.inputs.size(); ++i) parts.sources.emplace_back(i);
  parts.count = 0;
  return parts;
}

LoopParts scan_as_loop(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  const BodyWiring wiring = wiring_of(graph, node);
  const Body& body = node.bodies.at("body");
  const auto scans = static_cast<std::size_t>(view.integer("num_scan_inputs", 0));
  LoopParts parts{node.op, node.name, *body.graph};
  parts.states = wiring.states;
  const std::size_t results = parts.body.outputs.size() - parts.states;
  const auto axes = scan_numbers(view, "scan_input_axes", scans);
  const auto reversed = scan_numbers(view, "scan_input_directions", scans);
  const auto result_axes = scan_numbers(view, "scan_output_axes", results);
  const auto from_back = scan_numbers(view, "scan_output_directions", results);
  for (std::size_t r = 0; r < results; ++r) {
    parts.stacked.push_back({result_axes[r], from_back[r] != 0});
  }
  ScanBody made(parts.body);
  const std::vector<TensorId> formals = parts.body.inputs;
  std::vector<TensorId> inputs{made.turn(), made.condition()};
  parts.sources.resize(2);
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const bool is_scanned = i >= parts.states && i < parts.states + scans;
    parts.sources.emplace_back(i);
    if (!is_scanned) {
      inputs.push_back(formals[i]);
      continue;
    }
    const GraphTensor formal = parts.body.tensor(formals[i]);
    const TensorId whole = made.add_input(formal.name + ".whole", formal.dtype);
    made.take_part(formals[i], whole, axes[i - parts.states], reversed[i - parts.states] != 0);
    inputs.push_back(whole);
    parts.counted_axes.emplace_back(i, axes[i - parts.states]);
  }
  made.finish();
  parts.body.inputs = std::move(inputs);
  parts.body.outputs.insert(parts.body.outputs.begin(), made.condition());
  return parts;
}

}  // namespace morton::api
