// SPDX-License-Identifier: Apache-2.0
#include "autodiff/losses.hpp"

#include <numeric>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/softmax_rows.hpp"

namespace morton::autodiff {
namespace {

using Ref = ScalarRef;

bool is_softmax(const Node& node) { return node.op == "Softmax" || node.op == "LogSoftmax"; }

bool is_sigmoid(const Node& node) { return node.op == "Sigmoid"; }

/// A cross entropy behind the other one's activation would be that of no network.
void require_own_activation(const Graph& graph, Loss loss, TensorId output) {
  const Node* node = origin_of(graph, output);
  if (node == nullptr) return;
  const bool of_classes = loss == Loss::softmax_cross_entropy && is_sigmoid(*node);
  const bool of_each = loss == Loss::binary_cross_entropy && is_softmax(*node);
  if (!of_classes && !of_each) return;
  throw UsageError("train: the model ends in " + NodeView(graph, *node).where() + ", which goes " +
                   "with the loss " +
                   (of_each ? "softmax-cross-entropy, not binary-cross-entropy"
                            : "binary-cross-entropy, not softmax-cross-entropy"));
}

/// What goes into the Sigmoid at the end of the model, if there is one.
TensorId before_sigmoid(const Graph& graph, TensorId output) {
  const Node* node = origin_of(graph, output);
  return node != nullptr && is_sigmoid(*node) ? node->inputs[0] : output;
}

/// What goes into the Softmax or LogSoftmax at the end of the model, if there is one.
TensorId before_softmax(const Graph& graph, TensorId output) {
  const Node* node = origin_of(graph, output);
  if (node == nullptr || !is_softmax(*node)) return output;
  const Shape& shape = graph.tensor(node->inputs[0]).shape;
  const std::int64_t rows = graph.tensor(output).shape.front();
  std::int64_t classes = 1;
  for (const std::int64_t axis : softmax_axes(NodeView(graph, *node))) {
    classes *= shape[static_cast<std::size_t>(axis)];
  }
  if (shape.front() == rows && classes * rows == element_count(shape)) return node->inputs[0];
  throw UsageError("train: " + NodeView(graph, *node).where() + " of " + to_string(shape) +
                   " does not run along the classes, all that is left of an example");
}

void require_classes(const Shape& output) {
  const bool is_row = output.size() >= 2 && output[0] * output[1] == element_count(output);
  if (is_row && output[1] >= 2) return;
  throw UsageError("train: the model's output is " + to_string(output) +
                   ": softmax-cross-entropy takes one number for each class of an example, "
                   "[N, classes], two classes at least; other losses compare element by element");
}

/// [N, all else].
TensorId as_rows(GraphWriter& writer, TensorId value) {
  const Shape& shape = writer.shape_of(value);
  const std::int64_t rows = shape.front();
  return writer.reshaped(value, {rows, element_count(shape) / rows});
}

/// The labels as a column beside the classes' numbers.
struct Labels {
  TensorId column = kNoTensor, classes = kNoTensor;
};

Labels labels_of(GraphWriter& writer, TensorId target, std::int64_t classes) {
  Tensor numbers = Tensor::allocate(DType::i32, {1, classes});
  for (std::int64_t c = 0; c < classes; ++c) numbers.set(c, static_cast<double>(c));
  return {writer.reshaped(target, {writer.shape_of(target).front(), 1}),
          writer.constant(std::move(numbers))};
}

/// 1 in the rows whose largest output is the label's.
TensorId right_rows(GraphWriter& writer, TensorId outputs, TensorId target) {
  const TensorId choice =
      writer.add("ArgMax", {outputs}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  Chain chain;
  chain.input_count = 2;
  const Ref number = chain.append_conversion(ScalarOp::cast, Ref::input(1), DType::i32);
  const Ref same = chain.append(ScalarOp::equal, {Ref::input(0), number});
  chain.append_conversion(ScalarOp::cast, same, DType::f32);
  return writer.chain(chain, {target, choice});
}

/// - log(softmax(x)[label]), or - sum of share * log(softmax(x)).
LossTensors softmax_cross_entropy(Graph& graph, const LossOperands& operands) {
  GraphWriter writer(graph, "loss");
  require_classes(writer.shape_of(operands.output));
  const TensorId x = as_rows(writer, before_softmax(graph, operands.output));
  const TensorId logarithms = writer.add("LogSoftmax", {x}, {{"axis", std::int64_t{1}}});
  LossTensors loss;
  Chain chain;
  TensorId terms = kNoTensor;
  if (writer.type_of(operands.target) == DType::i32) {
    const Labels labels = labels_of(writer, operands.target, writer.shape_of(x)[1]);
    chain.input_count = 3;
    const Ref is_label = chain.append(ScalarOp::equal, {Ref::input(1), Ref::input(2)});
    const Ref negated = chain.append(ScalarOp::neg, {Ref::input(0)});
    chain.append(ScalarOp::select, {is_label, negated, Ref::constant(0.0)});
    terms = writer.chain(chain, {logarithms, labels.column, labels.classes});
    loss.right = right_rows(writer, x, operands.target);
  } else {
    chain.input_count = 2;
    const Ref product = chain.append(ScalarOp::mul, {Ref::input(0), Ref::input(1)});
    chain.append(ScalarOp::neg, {product});
    terms = writer.chain(chain, {logarithms, as_rows(writer, operands.target)});
  }
  loss.rows = writer.reshaped(writer.sum(terms, {1}), {writer.shape_of(x)[0]});
  return loss;
}

/// Of x before the sigmoid and the target t: log(1 + exp(x)) - x t. The two terms of the first that
/// are near x come off each other before the small one is added.
Chain cross_entropy_of_sigmoid() {
  Chain chain;
  chain.input_count = 2;
  const Ref x = Ref::input(0);
  const SoftplusTerms terms = append_softplus(chain, x);
  const Ref hit = chain.append(ScalarOp::mul, {x, Ref::input(1)});
  const Ref distance = chain.append(ScalarOp::sub, {terms.positive, hit});
  chain.append(ScalarOp::add, {distance, terms.rest});
  return chain;
}

/// (x - t)^2 or |x - t|.
Chain difference(Loss loss) {
  Chain chain;
  chain.input_count = 2;
  const Ref apart = chain.append(ScalarOp::sub, {Ref::input(0), Ref::input(1)});
  if (loss == Loss::mean_squared_error) {
    chain.append(ScalarOp::mul, {apart, apart});
  } else {
    chain.append(ScalarOp::abs, {apart});
  }
  return chain;
}

LossTensors mean_of(Graph& graph, const Chain& chain, TensorId output, TensorId target) {
  GraphWriter writer(graph, "loss");
  const TensorId x = as_rows(writer, output);
  const TensorId terms = writer.chain(chain, {x, as_rows(writer, target)});
  return {writer.reshaped(writer.mean(terms, {1}), {writer.shape_of(x)[0]}), kNoTensor};
}

}  // namespace

TargetType target_type(const Shape& output, TargetKind kind) {
  if (kind == TargetKind::labels) return {DType::i32, {output.empty() ? 1 : output.front()}};
  return {DType::f32, output};
}

const Node* origin_of(const Graph& graph, TensorId id) {
  for (NodeId producer = graph.producer(id); producer; producer = graph.producer(id)) {
    const Node& node = graph.node(producer);
    if (!operator_of(node).host.alias) return &node;
    id = node.inputs[0];
  }
  return nullptr;
}

LossTensors add_loss(Graph& graph, Loss loss, const LossOperands& operands) {
  const Shape& output = graph.tensor(operands.output).shape;
  const GraphTensor& target = graph.tensor(operands.target);
  const bool labels = target.dtype == DType::i32;
  if (labels && loss != Loss::softmax_cross_entropy) {
    throw UsageError("train: labels go with softmax-cross-entropy; other losses compare values");
  }
  const Shape expected =
      target_type(output, labels ? TargetKind::labels : TargetKind::values).shape;
  if (output.empty() || output.front() < 1 || target.shape != expected) {
    throw UsageError("train: the targets are " + to_string(target.shape) +
                     ", the model's output is " + to_string(output) + ": expected " +
                     to_string(expected));
  }
  require_own_activation(graph, loss, operands.output);
  switch (loss) {
    case Loss::softmax_cross_entropy:
      return softmax_cross_entropy(graph, operands);
    case Loss::binary_cross_entropy:
      return mean_of(graph, cross_entropy_of_sigmoid(), before_sigmoid(graph, operands.output),
                     operands.target);
    case Loss::mean_squared_error:
    case Loss::mean_absolute_error:
      return mean_of(graph, difference(loss), operands.output, operands.target);
  }
  throw InternalError("losses: unknown loss");
}

}  // namespace morton::autodiff
