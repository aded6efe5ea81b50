// SPDX-License-Identifier: Apache-2.0
#include "autodiff/training_form.hpp"

#include <algorithm>
#include <cmath>

#include "autodiff/optimizers.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/core/node_view.hpp"

namespace morton::autodiff {
namespace {

using Ref = ScalarRef;

/// Makes a constant that a run renews of a model's constant.
void to_state(GraphTensor& tensor) {
  tensor.kind = GraphTensor::Kind::state;
  tensor.data = tensor.data.clone();
}

/// One BatchNormalization in place of which others are written.
class BatchStatistics {
 public:
  BatchStatistics(Graph& graph, const Node& node)
      : graph_(graph), node_(node), writer_(graph, node.name + "/training") {}

  /// The result.
  TensorId write() {
    const Shape shape = writer_.shape_of(node_.inputs[0]);
    channels_.assign(shape.size(), 1);
    channels_[1] = shape[1];
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d != 1) axes_.push_back(static_cast<std::int64_t>(d));
    }
    const TensorId x = node_.inputs[0];
    const TensorId mean = writer_.mean(x, axes_);
    const TensorId distance = writer_.apply(ScalarOp::sub, {x, mean});
    const TensorId squares = writer_.apply(ScalarOp::mul, {distance, distance});
    const TensorId variance = writer_.mean(squares, axes_);
    follow(node_.inputs[3], mean);
    follow(node_.inputs[4], variance);
    return scaled(distance, variance);
  }

 private:
  /// The running statistic follows that of the batch.
  void follow(TensorId running, TensorId current) {
    const NodeView view(graph_, node_);
    const double momentum = view.real("momentum", 0.9);
    GraphTensor& state = graph_.tensor(running);
    if (state.kind != GraphTensor::Kind::constant || !graph_.consumers(running).empty()) {
      view.unsupported("its running statistic '" + state.name +
                       "' is read in another place too; for training, give each its own");
    }
    to_state(state);
    Chain chain;
    chain.input_count = 2;
    const Ref old = chain.append(ScalarOp::mul, {Ref::input(0), Ref::constant(momentum)});
    const Ref now = chain.append(ScalarOp::mul, {Ref::input(1), Ref::constant(1.0 - momentum)});
    chain.append(ScalarOp::add, {old, now});
    const TensorId now_flat = writer_.reshaped(current, {channels_[1]});
    graph_.updates.push_back({running, writer_.chain(chain, {running, now_flat})});
  }

  /// distance / sqrt(variance + epsilon) * scale + shift.
  TensorId scaled(TensorId distance, TensorId variance) {
    const NodeView view(graph_, node_);
    const double epsilon = view.real("epsilon", 1e-5);
    Chain chain;
    chain.input_count = 2;
    const Ref moved = chain.append(ScalarOp::add, {Ref::input(0), Ref::constant(epsilon)});
    const Ref deviation = chain.append(ScalarOp::sqrt, {moved});
    chain.append(ScalarOp::div, {Ref::input(1), deviation});
    const TensorId scale = writer_.reshaped(node_.inputs[1], channels_);
    const TensorId shift = writer_.reshaped(node_.inputs[2], channels_);
    const TensorId factor = writer_.chain(chain, {variance, scale});
    Chain affine;
    affine.input_count = 3;
    const Ref product = affine.append(ScalarOp::mul, {Ref::input(0), Ref::input(1)});
    affine.append(ScalarOp::add, {product, Ref::input(2)});
    return writer_.chain(affine, {distance, factor, shift});
  }

  Graph& graph_;
  Node node_;
  GraphWriter writer_;
  Shape channels_;
  std::vector<std::int64_t> axes_;
};

/// Appends "lowbias32", a hash of 32 bits (C. Wellons, "Prospecting for hash functions", 2018, with
/// the constants of T. Ettl).
Ref append_hash(Chain& chain, Ref value) {
  const auto mix = [&](Ref from, double distance) {
    const Ref moved = chain.append(ScalarOp::shift_right, {from, Ref::constant(distance)});
    return chain.append(ScalarOp::bit_xor, {from, moved});
  };
  Ref h = mix(value, 16.0);
  h = mix(chain.append(ScalarOp::mul, {h, Ref::constant(0x21f0aaad)}), 15.0);
  return mix(chain.append(ScalarOp::mul, {h, Ref::constant(0x735a2d97)}), 15.0);
}

/// x, or 0 with the probability `ratio`: of x, the numbers of its row and column (inputs 1 and 2;
/// their sum counts the elements) and the step's number (input 3).
Chain dropout_chain(double ratio, std::uint32_t salt) {
  Chain chain;
  chain.input_count = 4;
  const Ref index = chain.append(ScalarOp::add, {Ref::input(1), Ref::input(2)});
  const Ref key =
      chain.append(ScalarOp::bit_xor, {Ref::input(3), Ref::constant(static_cast<double>(salt))});
  const Ref mixed = chain.append(ScalarOp::bit_xor, {append_hash(chain, index), key});
  const Ref number = append_hash(chain, mixed);
  const double limit = std::min(std::floor(ratio * 0x1p32), 0x1p32 - 1.0);
  const Ref is_dropped = chain.append(ScalarOp::less, {number, Ref::constant(limit)});
  const Ref kept = chain.append(ScalarOp::mul, {Ref::input(0), Ref::constant(1.0 / (1.0 - ratio))});
  chain.append(ScalarOp::select, {is_dropped, Ref::constant(0.0), kept});
  return chain;
}

/// The numbers 0, `step`, 2 `step`, ...
Tensor counting(const Shape& shape, std::int64_t step) {
  Tensor numbers = Tensor::allocate(DType::u32, shape);
  auto values = numbers.as_mutable<std::uint32_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(step);
  }
  return numbers;
}

double ratio_of(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  if (!view.has_input(1)) return view.real("ratio", 0.5);
  const Tensor* ratio = view.constant(1);
  if (ratio == nullptr || ratio->size() != 1) view.unsupported("its ratio must be a constant");
  return ratio->at(0);
}

double checked_ratio(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  const double ratio = ratio_of(graph, node);
  if (!(ratio >= 0.0 && ratio < 1.0)) {
    view.fail("its ratio is " + exact_text(ratio) + ", expected a number from 0 to below 1");
  }
  return ratio;
}

/// Nobody may read the mask, which is not computed.
void require_no_mask(const Graph& graph, const Node& node) {
  if (node.outputs.size() < 2 || node.outputs[1] == kNoTensor) return;
  const TensorId mask = node.outputs[1];
  if (!graph.is_result(mask) && graph.consumers(mask).empty()) return;
  NodeView(graph, node).unsupported("its mask is read, and in training there is none");
}

TensorId write_dropout(Graph& graph, const Node& node, double ratio, std::uint32_t salt) {
  GraphWriter writer(graph, node.name + "/training");
  const Shape shape = writer.shape_of(node.inputs[0]);
  Shape rows(shape.size(), 1);
  Shape columns = shape;
  rows[0] = shape[0];
  columns[0] = 1;
  TensorId key = graph.find(kDropoutInput);
  if (key == kNoTensor) key = add_scalar_input(graph, kDropoutInput, DType::u32);
  return writer.chain(dropout_chain(ratio, salt),
                      {node.inputs[0], writer.constant(counting(rows, element_count(columns))),
                       writer.constant(counting(columns, 1)), key});
}

/// What computes `node`'s output in training; kNoTensor where nothing changes.
TensorId written(Graph& graph, const Node& node, std::uint32_t number,
                 const std::function<bool(TensorId)>& is_learned) {
  if (node.op == "BatchNormalization" &&
      (is_learned(node.inputs[1]) || is_learned(node.inputs[2]))) {
    return BatchStatistics(graph, node).write();
  }
  if (node.op == "Dropout" && !graph.tensor(node.inputs[0]).shape.empty()) {
    const double ratio = checked_ratio(graph, node);
    if (ratio > 0.0) return write_dropout(graph, node, ratio, number * 0x9e3779b9U);
  }
  return kNoTensor;
}

}  // namespace

void to_training_form(Graph& graph, const std::function<bool(TensorId)>& is_learned) {
  for (const Node& node : graph.nodes) {
    if (node.op == "Dropout") require_no_mask(graph, node);
  }
  const std::vector<Node> given = std::move(graph.nodes);
  graph.nodes.clear();
  std::map<TensorId, TensorId> renamed;
  const auto current = [&](TensorId id) {
    const auto found = renamed.find(id);
    return found == renamed.end() ? id : found->second;
  };
  std::uint32_t number = 0;
  for (Node node : given) {
    for (TensorId& id : node.inputs) id = current(id);
    ++number;
    const TensorId in_training = written(graph, node, number, is_learned);
    if (in_training == kNoTensor) {
      graph.nodes.push_back(std::move(node));
    } else {
      renamed[node.outputs[0]] = in_training;
    }
  }
  for (TensorId& id : graph.outputs) id = current(id);
}

}  // namespace morton::autodiff
