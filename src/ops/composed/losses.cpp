// SPDX-License-Identifier: Apache-2.0
//
// Losses over classes: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/core/made_constant.hpp"

namespace morton::ops {
namespace {

/// A loss over the classes, dimension 1 of input 0. Input 1 has a class for each place, input 2 a
/// weight for each class.
class ClassLoss {
 public:
  explicit ClassLoss(Expansion& out) : out_(out), node_(out.node()), shape_(node_.input(0).shape) {
    check();
    type_ = node_.input(1).dtype;
    Shape places = shape_;
    places[1] = 1;
    target_ = out_.reshaped(out_.input(1), places);
  }

  /// Of `log_probabilities`, which are of input 0's shape.
  TensorId of(TensorId log_probabilities) {
    const TensorId numbers = class_numbers();
    Chain cost;
    const ScalarRef negative = cost.append(ScalarOp::neg, {ScalarRef::input(0)});
    append_if_hit(cost, negative);
    TensorId loss = out_.sum(out_.chain(cost, {log_probabilities, target_, numbers}), {1});
    TensorId share = kNoTensor;
    if (node_.has_input(2)) {
      const TensorId weight = out_.reshaped(widened(out_, out_.input(2)), class_shape());
      Chain chosen;
      append_if_hit(chosen, ScalarRef::input(3));
      share = out_.sum(out_.chain(chosen, {log_probabilities, target_, numbers, weight}), {1});
      loss = out_.apply(ScalarOp::mul, {loss, share});
    }
    if (node_.has("ignore_index")) {
      loss = unless_ignored(loss);
      share = share != kNoTensor ? unless_ignored(share) : counted(loss);
    }
    return reduced(loss, share);
  }

 private:
  void check() const {
    require_real(node_, 0);
    require_real(node_, 2);
    if (shape_.size() < 2) {
      node_.fail("its input is " + to_string(shape_) + "; a batch and classes are expected");
    }
    const DType type = node_.input(1).dtype;
    if (type != DType::i32 && type != DType::i64) {
      node_.fail("the classes (input 1) are of type " + std::string(name_of(type)) +
                 ", expected i32 or i64");
    }
    Shape places = shape_;
    places.erase(places.begin() + 1);
    require_shape(node_, 1, places, "the classes");
    require_shape(node_, 2, {shape_[1]}, "the weights of the classes");
    const std::string reduction = node_.text("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean") {
      node_.fail("reduction is '" + reduction + "', expected none, sum or mean");
    }
    check_known_classes();
  }

  void check_known_classes() const {
    const Tensor* classes = node_.constant(1);
    for (std::int64_t i = 0; classes != nullptr && i < classes->size(); ++i) {
      const double number = classes->at(i);
      if (number >= 0 && number < static_cast<double>(shape_[1])) continue;
      if (node_.has("ignore_index") &&
          number == static_cast<double>(node_.integer("ignore_index", 0))) {
        continue;
      }
      node_.fail("names class " + std::to_string(static_cast<std::int64_t>(number)) + " of " +
                 std::to_string(shape_[1]));
    }
  }

  /// As it broadcasts against input 0.
  [[nodiscard]] Shape class_shape() const {
    Shape shape(shape_.size() - 1, 1);
    shape[0] = shape_[1];
    return shape;
  }
  /// 0, 1, 2, ... along the classes.
  [[nodiscard]] TensorId class_numbers() {
    Tensor numbers = made_constant(type_, class_shape(), out_.node().where());
    for (std::int64_t i = 0; i < numbers.size(); ++i) numbers.set(i, static_cast<double>(i));
    return out_.constant(std::move(numbers));
  }

  /// `value` where the target (input 1) is the class (input 2), else 0.
  static void append_if_hit(Chain& chain, ScalarRef value) {
    chain.input_count = 4;
    const ScalarRef hit = chain.append(ScalarOp::equal, {ScalarRef::input(1), ScalarRef::input(2)});
    chain.append(ScalarOp::select, {hit, value, ScalarRef::constant(0.0)});
  }
  /// Whether the target (input 1) is ignored.
  ScalarRef append_ignored(Chain& chain) const {
    chain.input_count = 2;
    const auto number = static_cast<double>(node_.integer("ignore_index", 0));
    return chain.append(ScalarOp::equal, {ScalarRef::input(1), ScalarRef::constant(number)});
  }
  TensorId unless_ignored(TensorId value) {
    Chain chain;
    const ScalarRef ignored = append_ignored(chain);
    chain.append(ScalarOp::select, {ignored, ScalarRef::constant(0.0), ScalarRef::input(0)});
    return out_.chain(chain, {value, target_});
  }
  /// 1 for each target that is not ignored, of the type and shape of `loss`.
  TensorId counted(TensorId loss) {
    Chain chain;
    const ScalarRef counts = chain.append(ScalarOp::logical_not, {append_ignored(chain)});
    chain.append_conversion(ScalarOp::cast, counts, out_.type_of(loss));
    return out_.chain(chain, {loss, target_});
  }

  TensorId whole_sum(TensorId value) {
    const std::size_t rank = shape_.size();
    return out_.reshaped(out_.sum(value, dimensions_between(0, rank)), {});
  }
  /// What the attribute `reduction` makes of them; a mean is over the shares, where there are any.
  TensorId reduced(TensorId loss, TensorId share) {
    const std::string reduction = node_.text("reduction", "mean");
    if (reduction == "none") return out_.reshaped(loss, node_.input(1).shape);
    const TensorId sum = whole_sum(loss);
    if (reduction == "sum") return sum;
    if (share != kNoTensor) return out_.apply(ScalarOp::div, {sum, whole_sum(share)});
    Chain mean;
    const auto count = static_cast<double>(element_count(node_.input(1).shape));
    mean.append(ScalarOp::div, {ScalarRef::input(0), ScalarRef::constant(count)});
    return out_.chain(mean, {sum});
  }

  Expansion& out_;
  const NodeView& node_;
  Shape shape_;
  DType type_ = DType::i64;
  TensorId target_ = kNoTensor;
};

std::vector<TensorId> expand_likelihood(Expansion& out) {
  ClassLoss loss(out);
  const TensorId result = loss.of(widened(out, out.input(0)));
  return {out.converted(result, out.type_of(out.input(0)))};
}

std::vector<TensorId> expand_cross_entropy(Expansion& out) {
  ClassLoss loss(out);
  const DType type = out.type_of(out.input(0));
  const TensorId log_probabilities =
      out.add("LogSoftmax", {widened(out, out.input(0))}, {{"axis", std::int64_t{1}}});
  const TensorId result = loss.of(log_probabilities);
  return {out.converted(result, type), out.converted(log_probabilities, type)};
}

template <std::vector<TensorId> (*kExpand)(Expansion&)>
Operator loss_row(std::string_view name) {
  return {.name = name,
          .inputs = {.least = 2, .most = 3},
          .attributes = {"ignore_index", "reduction"},
          .since_opset = 12,
          .expand = kExpand};
}

}  // namespace

const OperatorTable& losses_operators() {
  static const OperatorTable kTable{
      loss_row<expand_likelihood>("NegativeLogLikelihoodLoss"),
      loss_row<expand_cross_entropy>("SoftmaxCrossEntropyLoss"),
  };
  return kTable;
}

}  // namespace morton::ops
