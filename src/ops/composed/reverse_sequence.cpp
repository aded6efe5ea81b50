// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/made_constant.hpp"

namespace morton::ops {
namespace {

/// Dimensions 0 and 1 of the input are the batch and the time, in this order or the other.
bool batch_is_first(const NodeView& node) {
  const std::int64_t batch = node.integer("batch_axis", 1);
  const std::int64_t time = node.integer("time_axis", 0);
  const bool known = (batch == 0 && time == 1) || (batch == 1 && time == 0);
  if (!known) {
    node.fail("batch_axis is " + std::to_string(batch) + " and time_axis " + std::to_string(time) +
              ", expected 0 and 1, or 1 and 0");
  }
  if (node.input(0).shape.size() < 2) node.fail("its input needs two dimensions or more");
  return batch == 0;
}

/// Where element t of a sample comes from: length - 1 - t below its length, else t.
TensorId reversed_places(Expansion& expansion, bool batch_first) {
  const NodeView& node = expansion.node();
  const Shape shape = node.input(0).shape;
  const std::int64_t batch = shape[batch_first ? 0 : 1];
  const std::int64_t length = shape[batch_first ? 1 : 0];
  if (node.input(1).dtype != DType::i64 || node.input(1).shape != Shape{batch}) {
    node.fail("the lengths are " + std::string(name_of(node.input(1).dtype)) + " " +
              to_string(node.input(1).shape) + ", expected i64 [" + std::to_string(batch) + "]");
  }
  Tensor steps = made_constant(DType::i64, {shape[0], shape[1]}, node.where());
  for (std::int64_t e = 0; e < steps.size(); ++e) {
    steps.set(e, static_cast<double>(batch_first ? e % length : e / batch));
  }
  Chain chain;
  const ScalarRef step = ScalarRef::input(0);
  const ScalarRef end = ScalarRef::input(1);
  chain.input_count = 2;
  const ScalarRef last = chain.append(ScalarOp::sub, {end, ScalarRef::constant(1.0)});
  const ScalarRef back = chain.append(ScalarOp::sub, {last, step});
  const ScalarRef inside = chain.append(ScalarOp::less, {step, end});
  chain.append(ScalarOp::select, {inside, back, step});
  const Shape beside = batch_first ? Shape{batch, 1} : Shape{1, batch};
  return expansion.chain(chain, {expansion.constant(std::move(steps)),
                                 expansion.reshaped(expansion.input(1), beside)});
}

std::vector<TensorId> expand_reverse_sequence(Expansion& expansion) {
  const bool batch_first = batch_is_first(expansion.node());
  const Shape shape = expansion.node().input(0).shape;
  const Shape tuple{shape[0], shape[1], 1};
  const TensorId places = expansion.reshaped(reversed_places(expansion, batch_first), tuple);
  if (batch_first) {
    return {
        expansion.add("GatherND", {expansion.input(0), places}, {{"batch_dims", std::int64_t{1}}})};
  }
  Tensor samples = made_constant(DType::i64, tuple, expansion.node().where());
  for (std::int64_t e = 0; e < samples.size(); ++e) {
    samples.set(e, static_cast<double>(e % shape[1]));
  }
  const TensorId tuples = expansion.add("Concat", {places, expansion.constant(std::move(samples))},
                                        {{"axis", std::int64_t{2}}});
  return {expansion.add("GatherND", {expansion.input(0), tuples})};
}

}  // namespace

const Operator& operator_ReverseSequence() {
  static const Operator kOperator{
      .name = "ReverseSequence",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"batch_axis", "time_axis"},
      .since_opset = 10,
      .expand = expand_reverse_sequence,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
