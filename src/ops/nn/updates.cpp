// SPDX-License-Identifier: Apache-2.0
//
// ai.onnx.preview.training's Adagrad, Adam and Momentum: one step of training for any number of
// tensors. Their inputs are the learning rate R, the count of steps T, then all tensors X, all
// their gradients, all of each state.
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

/// What a step makes of one tensor; its `values` are X, its gradient and its states.
class UpdateStep {
 public:
  UpdateStep(Expansion& out, std::vector<TensorId> values)
      : out_(out), values_(std::move(values)), type_(out.type_of(values_[0])) {}

  [[nodiscard]] TensorId x() const { return values_[0]; }
  [[nodiscard]] TensorId state(std::size_t i) const { return values_[2 + i]; }
  [[nodiscard]] TensorId rate() const { return out_.converted(out_.input(0), type_); }
  [[nodiscard]] TensorId count() const { return out_.converted(out_.input(1), type_); }
  [[nodiscard]] double attribute(const char* name, double otherwise) const {
    return out_.node().real(name, otherwise);
  }
  [[nodiscard]] TensorId number(double value) const { return out_.scalar(type_, value); }
  [[nodiscard]] TensorId of(const char* op, TensorId a, TensorId b) const {
    return out_.add(op, {a, b});
  }
  [[nodiscard]] TensorId root(TensorId value) const { return out_.add("Sqrt", {value}); }
  /// The gradient, with that of the norm.
  [[nodiscard]] TensorId slope() const {
    return of("Add", out_.scaled(x(), attribute("norm_coefficient", 0.0)), values_[1]);
  }
  /// a * share + b * (the rest).
  [[nodiscard]] TensorId mixed(TensorId a, double share, TensorId b) const {
    return of("Add", out_.scaled(a, share), out_.scaled(b, 1.0 - share));
  }
  /// `later` behind the first step, `first` at it.
  [[nodiscard]] TensorId by_count(TensorId later, TensorId first) const {
    return out_.add("Where", {of("Greater", count(), number(0.0)), later, first});
  }

 private:
  Expansion& out_;
  std::vector<TensorId> values_;
  DType type_;
};

/// X and its states, after the step.
using Updated = std::vector<TensorId>;

Updated adagrad(const UpdateStep& step) {
  const TensorId decay =
      step.of("Mul", step.count(), step.number(step.attribute("decay_factor", 0.0)));
  const TensorId rate = step.of("Div", step.rate(), step.of("Add", decay, step.number(1.0)));
  const TensorId slope = step.slope();
  const TensorId squares = step.of("Add", step.state(0), step.of("Mul", slope, slope));
  const TensorId size =
      step.of("Add", step.root(squares), step.number(step.attribute("epsilon", 1e-6)));
  const TensorId change = step.of("Div", step.of("Mul", rate, slope), size);
  return {step.of("Sub", step.x(), change), squares};
}

Updated adam(const UpdateStep& step) {
  const double alpha = step.attribute("alpha", 0.9);
  const double beta = step.attribute("beta", 0.999);
  const TensorId slope = step.slope();
  const TensorId mean = step.mixed(step.state(0), alpha, slope);
  const TensorId squares = step.mixed(step.state(1), beta, step.of("Mul", slope, slope));
  const auto missing = [&](double share) {
    return step.of("Sub", step.number(1.0), step.of("Pow", step.number(share), step.count()));
  };
  const TensorId corrected =
      step.of("Mul", step.rate(), step.of("Div", step.root(missing(beta)), missing(alpha)));
  const TensorId rate = step.by_count(corrected, step.rate());
  const TensorId size =
      step.of("Add", step.root(squares), step.number(step.attribute("epsilon", 1e-6)));
  const TensorId moved = step.of("Sub", step.x(), step.of("Div", step.of("Mul", rate, mean), size));
  const double kept = 1.0 - step.attribute("norm_coefficient_post", 0.0);
  return {step.of("Mul", moved, step.number(kept)), mean, squares};
}

Updated momentum(const UpdateStep& step, const NodeView& node) {
  const std::string mode = node.text("mode", "");
  if (mode != "standard" && mode != "nesterov") {
    node.fail("mode is '" + mode + "', expected standard or nesterov");
  }
  const TensorId alpha = step.number(step.attribute("alpha", 0.0));
  const TensorId share = step.by_count(step.number(step.attribute("beta", 0.0)), step.number(1.0));
  const TensorId slope = step.slope();
  const TensorId speed =
      step.of("Add", step.of("Mul", step.state(0), alpha), step.of("Mul", slope, share));
  const TensorId way =
      mode == "standard" ? speed : step.of("Add", slope, step.of("Mul", speed, alpha));
  return {step.of("Sub", step.x(), step.of("Mul", way, step.rate())), speed};
}

/// The step of each tensor; `states` of each. Outputs are all X, then all of each state.
template <typename Step>
std::vector<TensorId> expand_updates(Expansion& out, std::size_t states, const Step& update) {
  const NodeView& node = out.node();
  const std::size_t each = 2 + states;
  const std::size_t count = (node.input_count() - 2) / each;
  if (count < 1 || node.input_count() != 2 + count * each) {
    node.fail("has " + std::to_string(node.input_count()) + " inputs, expected two and " +
              std::to_string(each) + " for each tensor");
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (element_count(node.input(i).shape) != 1)
      node.fail("its first two inputs are one number each");
  }
  std::vector<TensorId> results((1 + states) * count);
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<TensorId> values;
    for (std::size_t i = 0; i < each; ++i) {
      const std::size_t place = 2 + i * count + t;
      if (node.input(place).shape != node.input(2 + t).shape ||
          node.input(place).dtype != node.input(2 + t).dtype) {
        node.fail("input " + std::to_string(place) + " is not as input " + std::to_string(2 + t));
      }
      values.push_back(out.input(place));
    }
    const Updated updated = update(UpdateStep(out, std::move(values)));
    for (std::size_t i = 0; i < updated.size(); ++i) results[i * count + t] = updated[i];
  }
  return results;
}

Operator update_operator(std::string_view name, std::vector<std::string_view> attributes,
                         std::vector<TensorId> (*expand)(Expansion& out)) {
  Operator op =
      foreign_operator(name, {.least = 5, .most = kAnyNumber}, std::move(attributes), expand);
  op.types = {DType::f32, DType::f64, DType::i64};
  return op;
}

}  // namespace

const OperatorTable& updates_operators() {
  static const OperatorTable kTable{
      update_operator("ai.onnx.preview.training.Adagrad",
                      {"decay_factor", "epsilon", "norm_coefficient"},
                      [](Expansion& out) { return expand_updates(out, 1, adagrad); }),
      update_operator("ai.onnx.preview.training.Adam",
                      {"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"},
                      [](Expansion& out) { return expand_updates(out, 2, adam); }),
      update_operator(
          "ai.onnx.preview.training.Momentum", {"alpha", "beta", "mode", "norm_coefficient"},
          [](Expansion& out) {
            return expand_updates(
                out, 1, [&out](const UpdateStep& step) { return momentum(step, out.node()); });
          }),
  };
  return kTable;
}

}  // namespace morton::ops
