// SPDX-License-Identifier: Apache-2.0
#include "autodiff/conditional_updates.hpp"

#include <limits>

#include "autodiff/formula.hpp"
#include "base/shape.hpp"
#include "ops/core/graph_writer.hpp"

namespace morton::autodiff {
namespace {

using Ref = ScalarRef;

TensorId accumulator(Graph& graph, TensorId parameter) {
  const GraphTensor& owner = graph.tensor(parameter);
  GraphTensor tensor;
  tensor.name = owner.name + kAccumulatedSuffix;
  tensor.kind = GraphTensor::Kind::state;
  tensor.dtype = owner.dtype;
  tensor.shape = owner.shape;
  tensor.data = Tensor::allocate(tensor.dtype, tensor.shape);
  return graph.add_tensor(std::move(tensor));
}

}  // namespace

void unscale_gradients(Graph& graph, std::vector<Learned>& learned) {
  const TensorId unscale = graph.find(kUnscaleInput);
  GraphWriter writer(graph, "unscale");
  for (Learned& one : learned) {
    one.gradient = writer.apply(ScalarOp::mul, {one.gradient, unscale});
  }
}

void accumulate_gradients(Graph& graph, const std::vector<Learned>& learned) {
  const TensorId fresh = add_scalar_input(graph, kFreshInput, DType::f32);
  for (const Learned& one : learned) {
    const TensorId state = accumulator(graph, one.parameter);
    GraphWriter writer(graph, graph.tensor(state).name);
    Formula sum(3);
    sum.plus(Ref::input(0),
             sum.either(sum.is_zero(Ref::input(2)), Ref::input(1), Ref::constant(0.0)));
    graph.updates.push_back({state, writer.chain(sum.chain(), {one.gradient, state, fresh})});
  }
}

TensorId count_not_finite(Graph& graph, const std::vector<Learned>& learned) {
  GraphWriter writer(graph, "overflow");
  // Comparisons with NaN do not hold.
  Chain chain;
  const Ref magnitude = chain.append(ScalarOp::abs, {Ref::input(0)});
  const Ref largest = Ref::constant(static_cast<double>(std::numeric_limits<float>::max()));
  const Ref finite = chain.append(ScalarOp::less_equal, {magnitude, largest});
  chain.append(ScalarOp::select, {finite, Ref::constant(0.0), Ref::constant(1.0)});
  TensorId total = kNoTensor;
  for (const Learned& one : learned) {
    const std::int64_t size = element_count(writer.shape_of(one.gradient));
    const TensorId flat = writer.reshaped(one.gradient, {size});
    const TensorId count = writer.sum(writer.chain(chain, {flat}), {0});
    total = total == kNoTensor ? count : writer.apply(ScalarOp::add, {total, count});
  }
  return total;
}

void hold_updates(Graph& graph, std::size_t first, TensorId overflow) {
  GraphWriter writer(graph, "hold");
  const TensorId count = writer.reshaped(overflow, {});
  for (std::size_t i = first; i < graph.updates.size(); ++i) {
    const StateUpdate update = graph.updates[i];
    Formula formula(3);
    formula.either(formula.is_zero(Ref::input(2)), Ref::input(0), Ref::input(1));
    graph.updates[i].value = writer.chain(formula.chain(), {update.value, update.state, count});
  }
}

}  // namespace morton::autodiff
