// SPDX-License-Identifier: Apache-2.0
#include "autodiff/losses.hpp"

#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "ops/graph_writer.hpp"

namespace morton {
namespace {

using Ref = ScalarRef;

/// What goes into the Softmax or Sigmoid `op` that computes `output`, or `output` itself.
TensorId before(const Graph& graph, TensorId output, std::string_view op) {
  const int producer = graph.producer(output);
  if (producer < 0) return output;
  const Node& node = graph.nodes[static_cast<std::size_t>(producer)];
  return node.op == op ? node.inputs[0] : output;
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
  TensorId inner = before(graph, operands.output, "Softmax");
  inner = before(graph, inner, "LogSoftmax");
  const TensorId x = as_rows(writer, inner);
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

/// Of x before the sigmoid and the target t: max(x, 0) - x t + log(1 + exp(-|x|)).
Chain cross_entropy_of_sigmoid() {
  Chain chain;
  chain.input_count = 2;
  const Ref x = Ref::input(0);
  const Ref positive = chain.append(ScalarOp::max, {x, Ref::constant(0.0)});
  const Ref hit = chain.append(ScalarOp::mul, {x, Ref::input(1)});
  const Ref rest = chain.append(ScalarOp::sub, {positive, hit});
  const Ref magnitude = chain.append(ScalarOp::neg, {chain.append(ScalarOp::abs, {x})});
  const Ref tail = chain.append(ScalarOp::log1p, {chain.append(ScalarOp::exp, {magnitude})});
  chain.append(ScalarOp::add, {rest, tail});
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

LossTensors add_loss(Graph& graph, Loss loss, const LossOperands& operands) {
  const Shape& output = graph.tensor(operands.output).shape;
  const GraphTensor& target = graph.tensor(operands.target);
  const bool labels = target.dtype == DType::i32;
  if (labels && loss != Loss::softmax_cross_entropy) {
    throw UsageError("train: labels go with softmax_cross_entropy; other losses compare values");
  }
  const Shape expected =
      target_type(output, labels ? TargetKind::labels : TargetKind::values).shape;
  if (output.empty() || output.front() < 1 || target.shape != expected) {
    throw UsageError("train: the targets are " + to_string(target.shape) +
                     ", the model's output is " + to_string(output) + ": expected " +
                     to_string(expected));
  }
  switch (loss) {
    case Loss::softmax_cross_entropy:
      return softmax_cross_entropy(graph, operands);
    case Loss::binary_cross_entropy:
      return mean_of(graph, cross_entropy_of_sigmoid(), before(graph, operands.output, "Sigmoid"),
                     operands.target);
    case Loss::mean_squared_error:
    case Loss::mean_absolute_error:
      return mean_of(graph, difference(loss), operands.output, operands.target);
  }
  throw InternalError("losses: unknown loss");
}

}  // namespace morton
