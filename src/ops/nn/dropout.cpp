// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/operator.hpp"
#include "ops/signals/random.hpp"

namespace morton::ops {
namespace {

/// Inputs: data, and from opset 12 on ratio and training_mode. Without training mode it is the
/// identity, whatever the ratio; the mask, of the data's type before opset 10, keeps everything.
bool drops(const NodeView& node) {
  if (!node.has_input(2)) return false;
  const Tensor& training = node.value(2);
  if (training.size() != 1) node.fail("training_mode is expected to be one truth value");
  return training.at(0) != 0.0;
}

std::vector<TensorType> infer_dropout(const NodeView& node) {
  (void)drops(node);
  const TensorType data = node.input(0);
  return {data, {node.opset() < 10 ? data.dtype : DType::boolean, data.shape}};
}

/// The mask; nothing in training mode, where it is computed.
std::vector<Tensor> values_of_dropout(const NodeView& node) {
  if (drops(node)) return {};
  const TensorType type = infer_dropout(node)[1];
  Tensor mask = Tensor::allocate(type.dtype, type.shape);
  for (std::int64_t i = 0; i < mask.size(); ++i) mask.set(i, 1.0);
  return {mask};
}

/// The part of the elements that is dropped.
TensorId ratio_of(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const DType type = node.input(0).dtype;
  if (!node.has_input(1)) return expansion.scalar(type, 0.5);
  if (element_count(node.input(1).shape) != 1) node.fail("the ratio is expected to be one number");
  const Tensor* known = node.constant(1);
  if (known == nullptr) return expansion.reshaped(expansion.input(1), {});
  if (!(known->at(0) >= 0.0) || !(known->at(0) < 1.0)) {
    node.fail("the ratio is " + std::to_string(known->at(0)) + ", expected 0 to below 1");
  }
  return expansion.scalar(type, known->at(0));
}

/// In training mode: what is kept is scaled up, so that the mean stays.
std::vector<TensorId> expand_dropout(Expansion& expansion) {
  const NodeView& node = expansion.node();
  if (!drops(node)) return {};
  const TensorType data = node.input(0);
  const RandomPlaces places(node);
  Tensor numbers = Tensor::allocate(data.dtype, data.shape);
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    numbers.set(i, places.uniform(static_cast<std::uint64_t>(i)));
  }
  const TensorId ratio = ratio_of(expansion);
  const TensorId kept = expansion.apply(
      ScalarOp::less_equal,
      {expansion.expanded(ratio, data.shape), expansion.constant(std::move(numbers))});
  Chain chain;
  chain.input_count = 3;
  const ScalarRef share =
      chain.append(ScalarOp::sub, {ScalarRef::constant(1.0), ScalarRef::input(2)});
  const ScalarRef scaled = chain.append(ScalarOp::div, {ScalarRef::input(0), share});
  chain.append(ScalarOp::select, {ScalarRef::input(1), scaled, ScalarRef::constant(0.0)});
  return {expansion.chain(chain, {expansion.input(0), kept, ratio}), kept};
}

}  // namespace

const Operator& operator_Dropout() {
  static const Operator kOperator{
      .name = "Dropout",
      .inputs = {.most = 3, .planned = {2}},
      .attributes = {"ratio", "seed"},
      .infer = infer_dropout,
      .host = {.values = values_of_dropout, .alias = true},
      .expand = expand_dropout,
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
