// SPDX-License-Identifier: Apache-2.0
#include "autodiff/optimizers.hpp"

#include "autodiff/formula.hpp"
#include "base/shape.hpp"
#include "ops/core/graph_writer.hpp"

namespace morton::autodiff {
namespace {

using Ref = ScalarRef;

/// Adds one parameter's update.
class Update {
 public:
  Update(Graph& graph, const OptimizerOptions& options, const Learned& learned)
      : graph_(graph),
        options_(options),
        name_(graph.tensor(learned.parameter).name),
        writer_(graph, name_ + "/update"),
        p_(learned.parameter),
        g_(learned.gradient),
        rate_(graph.find(kRateInput)) {}

  void add() {
    const bool decays = options_.weight_decay != 0.0 && writer_.shape_of(p_).size() > 1;
    const bool decays_apart = options_.kind == OptimizerOptions::Kind::adamw;
    if (decays && !decays_apart) {
      Formula formula(2);
      formula.plus(Ref::input(0), formula.times(options_.weight_decay, Ref::input(1)));
      g_ = writer_.chain(formula.chain(), {g_, p_});
    }
    switch (options_.kind) {
      case OptimizerOptions::Kind::sgd:
        return descend(g_);
      case OptimizerOptions::Kind::adam:
        return adam(0.0);
      case OptimizerOptions::Kind::adamw:
        return adam(decays ? options_.weight_decay : 0.0);
      case OptimizerOptions::Kind::rmsprop:
        return root_mean_square();
    }
  }

 private:
  /// A state of the parameter's shape that starts with zeros.
  TensorId state(const std::string& what) {
    GraphTensor tensor;
    tensor.name = name_ + "/" + what;
    tensor.kind = GraphTensor::Kind::state;
    tensor.dtype = writer_.type_of(p_);
    tensor.shape = writer_.shape_of(p_);
    tensor.data = Tensor::allocate(tensor.dtype, tensor.shape);
    return graph_.add_tensor(std::move(tensor));
  }

  TensorId renew(TensorId state, const Chain& chain, const std::vector<TensorId>& operands) {
    const TensorId value = writer_.chain(chain, operands);
    graph_.updates.push_back({state, value});
    return value;
  }

  /// p -= rate * direction, with momentum where there is some.
  void descend(TensorId direction) {
    const double momentum = options_.momentum;
    TensorId way = direction;
    if (momentum != 0.0) {
      const TensorId velocity = state("momentum");
      Formula faster(2);
      faster.plus(faster.times(momentum, Ref::input(0)), Ref::input(1));
      way = renew(velocity, faster.chain(), {velocity, direction});
    }
    Formula step(4);
    Ref moved = Ref::input(1);
    if (momentum != 0.0 && options_.form == OptimizerOptions::Momentum::nesterov) {
      moved = step.plus(Ref::input(3), step.times(momentum, Ref::input(1)));
    }
    step.minus(Ref::input(0), step.times(Ref::input(2), moved));
    renew(p_, step.chain(), {p_, way, rate_, direction});
  }

  void adam(double decay) {
    const TensorId mean = state("mean");
    const TensorId square = state("square");
    Formula first(2);
    first.plus(first.times(options_.beta1, Ref::input(0)),
               first.times(1.0 - options_.beta1, Ref::input(1)));
    const TensorId next_mean = renew(mean, first.chain(), {mean, g_});
    Formula second(2);
    second.plus(second.times(options_.beta2, Ref::input(0)),
                second.times(1.0 - options_.beta2, second.times(Ref::input(1), Ref::input(1))));
    const TensorId next_square = renew(square, second.chain(), {square, g_});
    Formula step(6);
    const Ref length = step.plus(step.times(step.root(Ref::input(2)), Ref::input(5)),
                                 Ref::constant(options_.epsilon));
    const Ref direction = step.over(step.times(Ref::input(1), Ref::input(4)), length);
    Ref from = Ref::input(0);
    if (decay != 0.0) {
      from = step.minus(from, step.times(Ref::input(3), step.times(decay, from)));
    }
    step.minus(from, step.times(Ref::input(3), direction));
    renew(p_, step.chain(),
          {p_, next_mean, next_square, rate_, graph_.find(kCorrection1Input),
           graph_.find(kCorrection2Input)});
  }

  void root_mean_square() {
    const TensorId square = state("square");
    Formula second(2);
    second.plus(second.times(options_.decay, Ref::input(0)),
                second.times(1.0 - options_.decay, second.times(Ref::input(1), Ref::input(1))));
    const TensorId next = renew(square, second.chain(), {square, g_});
    Formula scaled(2);
    scaled.over(Ref::input(0),
                scaled.plus(scaled.root(Ref::input(1)), Ref::constant(options_.epsilon)));
    descend(writer_.chain(scaled.chain(), {g_, next}));
  }

  Graph& graph_;
  const OptimizerOptions& options_;
  std::string name_;
  GraphWriter writer_;
  TensorId p_, g_, rate_;
};

}  // namespace

TensorId add_scalar_input(Graph& graph, const std::string& name, DType type) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::input;
  tensor.dtype = type;
  const TensorId id = graph.add_tensor(std::move(tensor));
  graph.inputs.push_back(id);
  return id;
}

void add_updates(Graph& graph, const OptimizerOptions& options,
                 const std::vector<Learned>& learned) {
  add_scalar_input(graph, kRateInput, DType::f32);
  using Kind = OptimizerOptions::Kind;
  if (options.kind == Kind::adam || options.kind == Kind::adamw) {
    add_scalar_input(graph, kCorrection1Input, DType::f32);
    add_scalar_input(graph, kCorrection2Input, DType::f32);
  }
  for (const Learned& one : learned) Update(graph, options, one).add();
}

void clip_gradients(Graph& graph, double limit, std::vector<Learned>& learned) {
  GraphWriter writer(graph, "clip");
  TensorId total = kNoTensor;
  for (const Learned& one : learned) {
    const TensorId flat =
        writer.reshaped(one.gradient, {element_count(writer.shape_of(one.gradient))});
    const TensorId squares = writer.sum(writer.apply(ScalarOp::mul, {flat, flat}), {0});
    total = total == kNoTensor ? squares : writer.apply(ScalarOp::add, {total, squares});
  }
  // As PyTorch's clip_grad_norm_: limit / (norm + 1e-6), and at most 1.
  Formula formula(1);
  const Ref norm = formula.plus(formula.root(Ref::input(0)), Ref::constant(1e-6));
  formula.least(formula.over(Ref::constant(limit), norm), Ref::constant(1.0));
  const TensorId scale = writer.reshaped(writer.chain(formula.chain(), {total}), {});
  for (Learned& one : learned) {
    one.gradient = writer.apply(ScalarOp::mul, {one.gradient, scale});
  }
}

}  // namespace morton::autodiff
