// SPDX-License-Identifier: Apache-2.0
#include "ops/math/reduction_gradient.hpp"

namespace morton::ops {
namespace {

using Ref = ScalarRef;

/// What each element's gradient is: of x (input 0), the result's gradient (input 1) and the result
/// (input 2).
Chain chain_behind(const NodeView& node, const Reduction& reduction) {
  using Map = Reduction::Map;
  using Finish = Reduction::Finish;
  Chain chain;
  chain.input_count = 3;
  const Ref x = Ref::input(0);
  const Ref output_gradient = Ref::input(1);
  const Ref y = Ref::input(2);
  const auto apply = [&](ScalarOp op, Ref a, Ref b) { return chain.append(op, {a, b}); };
  if (reduction.map == Map::magnitude && reduction.finish == Finish::none) {
    apply(ScalarOp::mul, output_gradient, chain.append(ScalarOp::sign, {x}));
  } else if (reduction.map == Map::square && reduction.finish == Finish::none) {
    apply(ScalarOp::mul, output_gradient, apply(ScalarOp::mul, Ref::constant(2.0), x));
  } else if (reduction.map == Map::square && reduction.finish == Finish::square_root) {
    // The length of a vector of zeros has no slope; 0 stands for it.
    const Ref share = apply(ScalarOp::div, apply(ScalarOp::mul, output_gradient, x), y);
    const Ref is_zero = apply(ScalarOp::equal, y, Ref::constant(0.0));
    chain.append(ScalarOp::select, {is_zero, Ref::constant(0.0), share});
  } else {
    node.unsupported("has no gradient: nothing before it can be trained");
  }
  return chain;
}

/// 1 where an element is the extreme one, 0 elsewhere.
TensorId is_extreme(Gradient& gradient, TensorId x, TensorId y) {
  Chain chain;
  chain.input_count = 2;
  const Ref same = chain.append(ScalarOp::equal, {Ref::input(0), Ref::input(1)});
  chain.append_conversion(ScalarOp::cast, same, gradient.type_of(x));
  return gradient.chain(chain, {x, y});
}

/// Of a product: what the other elements make. That is the product of all that are not 0, over the
/// element itself; where one is 0 it alone gets any, and where several are, none does.
TensorId gradient_of_product(Gradient& gradient, TensorId x, TensorId output_gradient,
                             const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return output_gradient;
  Chain without_zeros;
  const Ref one = Ref::constant(1.0);
  const Ref zero = Ref::constant(0.0);
  const Ref is_zero = without_zeros.append(ScalarOp::equal, {Ref::input(0), zero});
  without_zeros.append(ScalarOp::select, {is_zero, one, Ref::input(0)});
  const TensorId product =
      gradient.add("ReduceProd", {gradient.chain(without_zeros, {x}), gradient.list(axes)},
                   {{"keepdims", std::int64_t{1}}});
  Chain mark;
  mark.append_conversion(ScalarOp::cast, mark.append(ScalarOp::equal, {Ref::input(0), zero}),
                         gradient.type_of(x));
  const TensorId zeros = gradient.sum(gradient.chain(mark, {x}), axes);
  Chain chain;
  chain.input_count = 4;
  const auto select = [&](Ref condition, Ref yes, Ref no) {
    return chain.append(ScalarOp::select, {condition, yes, no});
  };
  const Ref rest = Ref::input(2);
  const Ref own = chain.append(ScalarOp::equal, {Ref::input(0), zero});
  const Ref none = chain.append(ScalarOp::equal, {Ref::input(3), zero});
  const Ref single = chain.append(ScalarOp::equal, {Ref::input(3), one});
  const Ref share = chain.append(ScalarOp::div, {rest, select(own, one, Ref::input(0))});
  const Ref of_zero = select(chain.append(ScalarOp::logical_and, {own, single}), rest, zero);
  chain.append(ScalarOp::mul, {select(none, share, of_zero), Ref::input(1)});
  return gradient.chain(chain, {x, output_gradient, product, zeros});
}

Along reduced_along(const NodeView& node) {
  return along(node.input(0).shape.size(), reduced_axes(node));
}

}  // namespace

void gradient_of_reduction(Gradient& gradient, const Along& along, const Reduction& reduction) {
  using Combine = Reduction::Combine;
  using Finish = Reduction::Finish;
  const NodeView& node = gradient.node();
  const Shape shape = node.input(0).shape;
  const Shape kept = reduced_shape(along, shape, Reduced::kept_as_one);
  const TensorId x = node.input_id(0);
  const TensorId output_gradient = gradient.reshaped(gradient.of_output(), kept);
  const auto result = [&] { return gradient.reshaped(node.output_id(), kept); };
  const bool plain = reduction.map == Reduction::Map::none;
  if (plain && (reduction.combine == Combine::smallest || reduction.combine == Combine::largest)) {
    // Where several are extreme they share the gradient.
    const TensorId marks = is_extreme(gradient, x, result());
    const std::vector<std::int64_t> axes(along.along.begin(), along.along.end());
    const TensorId share =
        gradient.apply(ScalarOp::div, {output_gradient, gradient.sum(marks, axes)});
    gradient.give(0, gradient.apply(ScalarOp::mul, {marks, share}));
  } else if (reduction.combine == Combine::product) {
    const std::vector<std::int64_t> axes(along.along.begin(), along.along.end());
    gradient.give(0, gradient_of_product(gradient, x, output_gradient, axes));
  } else if (plain && reduction.combine == Combine::sum && reduction.finish == Finish::logarithm) {
    Chain chain;
    chain.input_count = 2;
    const Ref share = chain.append(ScalarOp::neg, {Ref::input(1)});
    chain.append(ScalarOp::mul, {Ref::input(0), chain.append(ScalarOp::exp, {share})});
    gradient.give(0, gradient.expanded(gradient.chain(chain, {output_gradient, result()}), shape));
  } else if (plain && reduction.combine == Combine::sum) {
    const auto length = static_cast<double>(extent_of(shape, along.along));
    const bool is_mean = reduction.finish == Finish::mean;
    const TensorId share = gradient.scaled(output_gradient, is_mean ? 1.0 / length : 1.0);
    gradient.give(0, gradient.expanded(share, shape));
  } else {
    gradient.give(0, gradient.chain(chain_behind(node, reduction), {x, output_gradient, result()}));
  }
}

void gradient_of_reduce(Gradient& gradient, const Reduction& reduction) {
  gradient_of_reduction(gradient, reduced_along(gradient.node()), reduction);
}

void gradient_of_global_pool(Gradient& gradient, const Reduction& reduction) {
  gradient_of_reduction(gradient, along_image(gradient.node()), reduction);
}

}  // namespace morton::ops
