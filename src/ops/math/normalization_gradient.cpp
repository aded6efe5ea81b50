// SPDX-License-Identifier: Apache-2.0
#include "ops/math/normalization_gradient.hpp"

namespace morton::ops {
namespace {

using Ref = ScalarRef;

/// (x - mean) and 1 / sqrt(variance + epsilon), of each row.
struct Deviations {
  TensorId distance = kNoTensor;
  TensorId inverse = kNoTensor;
};

Deviations deviations_of(Gradient& gradient, const std::vector<std::int64_t>& axes,
                         double epsilon) {
  const TensorId x = gradient.node().input_id(0);
  Deviations found;
  found.distance = gradient.apply(ScalarOp::sub, {x, gradient.mean(x, axes)});
  const TensorId squares = gradient.apply(ScalarOp::mul, {found.distance, found.distance});
  Chain chain;
  const Ref moved = chain.append(ScalarOp::add, {Ref::input(0), Ref::constant(epsilon)});
  chain.append(ScalarOp::div, {Ref::constant(1.0), chain.append(ScalarOp::sqrt, {moved})});
  found.inverse = gradient.chain(chain, {gradient.mean(squares, axes)});
  return found;
}

}  // namespace

// With u = distance * inverse and g = dY * scale: dX = inverse (g - mean of g - u mean of g u).
void gradient_of_deviations(Gradient& gradient, const Along& along, double epsilon,
                            const std::vector<Shape>& shapes) {
  const NodeView& node = gradient.node();
  const std::vector<std::int64_t> axes(along.along.begin(), along.along.end());
  const TensorId output_gradient = gradient.of_output();
  const auto give = [&](std::size_t i, TensorId whole) {
    const TensorId sum = gradient.summed_to(whole, shapes[i - 1]);
    gradient.give(i, gradient.reshaped(sum, node.input(i).shape));
  };
  if (gradient.wants(2)) give(2, output_gradient);
  if (!gradient.wants(0) && !gradient.wants(1)) return;
  const Deviations deviations = deviations_of(gradient, axes, epsilon);
  const TensorId units = gradient.apply(ScalarOp::mul, {deviations.distance, deviations.inverse});
  if (gradient.wants(1)) give(1, gradient.apply(ScalarOp::mul, {output_gradient, units}));
  if (!gradient.wants(0)) return;
  TensorId scaled = output_gradient;
  if (!shapes.empty()) {
    const TensorId scale = gradient.reshaped(node.input_id(1), shapes[0]);
    scaled = gradient.apply(ScalarOp::mul, {output_gradient, scale});
  }
  const TensorId shares = gradient.apply(ScalarOp::mul, {scaled, units});
  Chain chain;
  chain.input_count = 5;
  const Ref along_units = chain.append(ScalarOp::mul, {Ref::input(1), Ref::input(3)});
  const Ref common = chain.append(ScalarOp::add, {Ref::input(2), along_units});
  const Ref rest = chain.append(ScalarOp::sub, {Ref::input(0), common});
  chain.append(ScalarOp::mul, {rest, Ref::input(4)});
  gradient.give(0, gradient.chain(chain, {scaled, units, gradient.mean(scaled, axes),
                                          gradient.mean(shares, axes), deviations.inverse}));
}

}  // namespace morton::ops
