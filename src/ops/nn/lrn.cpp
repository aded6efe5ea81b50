// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/along.hpp"
#include "ops/math/normalization.hpp"
#include "ops/math/summation.hpp"
#include "problems/local_response.hpp"

namespace morton::ops {
namespace {

std::int64_t size_of_window(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  if (shape.size() < 2) {
    node.fail("its input is " + to_string(shape) + "; a batch and channels are expected");
  }
  if (!node.has("size")) node.fail("the attribute 'size' is missing");
  const std::int64_t size = node.integer("size", 1);
  if (size < 1) node.fail("size is " + std::to_string(size) + ", expected 1 or more");
  return size;
}

/// ONNX's attributes are f32.
double as_f32(double value) { return static_cast<double>(static_cast<float>(value)); }

/// x / (bias + alpha / size * sum of squares) ^ beta. The base is off by the sum's error and by 1
/// ulp each for a product and a sum, 2.5 for the quotient; the power moves by beta times that share
/// and is off by 16 ulp, the quotient by 2.5.
ReferenceTensor reference_lrn(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const ReferenceTensor& source = inputs[0];
  const std::int64_t size = size_of_window(node);
  const double alpha = as_f32(node.real("alpha", 1e-4)) / static_cast<double>(size);
  const double beta = as_f32(node.real("beta", 0.75));
  const double bias = as_f32(node.real("bias", 1.0));
  const double ulp = 2.0 * kUnitRoundoff;
  ReferenceTensor result = source;
  for_each_row(
      along(source.shape.size(), {1}), source.shape, [&](const std::vector<std::size_t>& row) {
        const auto channels = static_cast<std::int64_t>(row.size());
        for (std::int64_t c = 0; c < channels; ++c) {
          BoundedSum squares;
          const std::int64_t end = std::min(c + size / 2 + 1, channels);
          for (std::int64_t j = std::max<std::int64_t>(c - (size - 1) / 2, 0); j < end; ++j) {
            const std::size_t at = row[static_cast<std::size_t>(j)];
            const Bounded value{source.value[at], source.error[at]};
            squares.add_product(value, value);
          }
          const Bounded sum = squares.result();
          const double base = bias + alpha * sum.value;
          const double part = std::fabs(alpha) * (sum.error + 4.5 * ulp * sum.value);
          const double base_share = part / std::fabs(base) + 2.0 * ulp;
          const double share = std::fabs(beta) * base_share + (16.0 + 2.5) * ulp;
          const std::size_t at = row[static_cast<std::size_t>(c)];
          result.value[at] = source.value[at] / std::pow(base, beta);
          result.error[at] = std::fabs(result.value[at]) * share +
                             source.error[at] / std::pow(base, beta) * (1.0 + share) +
                             static_cast<double>(std::numeric_limits<float>::min());
        }
      });
  return result;
}

/// Channels by themselves; what stands behind them is joined.
BoundProblem lower_lrn(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  BoundProblem bound;
  bound.problem.family = families::local_response;
  bound.problem.structure = numbers_of(LocalResponseStructure{
      size_of_window(node), static_cast<float>(node.real("alpha", 1e-4)),
      static_cast<float>(node.real("beta", 0.75)), static_cast<float>(node.real("bias", 1.0))});
  bound.problem.extents = {{"N", shape[0]}, {"C", shape[1]}};
  Grouping grouping{{0}, {1}, {}};
  std::vector<Expression> extents{Expression::variable("N"), Expression::variable("C")};
  for (std::size_t d = 2; d < shape.size(); ++d) {
    const std::string name = shape.size() == 3 ? "S" : "D" + std::to_string(d);
    bound.problem.extents[name] = shape[d];
    extents.push_back(Expression::variable(name));
    grouping[2].push_back(static_cast<int>(d));
  }
  bound.problem.extents["S"] = extent_of(shape, {grouping[2].begin(), grouping[2].end()});
  const View view = View::grouped({"N", "C", "S"}, std::move(grouping), extents);
  bound.operands["src"] = {node.input_id(0), view};
  bound.operands["dst"] = {node.output_id(), view};
  return bound;
}

/// The sum over the channels from `before` before each one to `behind` behind it.
TensorId window_sum(Gradient& gradient, TensorId value, std::int64_t before, std::int64_t behind) {
  const Shape shape = gradient.shape_of(value);
  std::vector<std::int64_t> none(shape.size(), 0);
  std::vector<std::int64_t> first = none;
  std::vector<std::int64_t> last = none;
  first[1] = before;
  last[1] = behind;
  const TensorId padded = gradient.padded(value, first, last);
  TensorId sum = kNoTensor;
  for (std::int64_t k = 0; k <= before + behind; ++k) {
    const TensorId moved = gradient.add(
        "Slice", {padded, gradient.list({k}), gradient.list({k + shape[1]}), gradient.list({1})});
    sum = sum == kNoTensor ? moved : gradient.apply(ScalarOp::add, {sum, moved});
  }
  return sum;
}

/// Of y = x / base ^ beta: g / base ^ beta, less 2 alpha beta / size * x * (the sum of g y / base
/// over the channels whose windows hold this one).
void gradient_of_lrn(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const std::int64_t size = size_of_window(node);
  const std::int64_t before = (size - 1) / 2;
  const std::int64_t behind = size / 2;
  const double alpha = as_f32(node.real("alpha", 1e-4)) / static_cast<double>(size);
  const double beta = as_f32(node.real("beta", 0.75));
  const TensorId x = node.input_id(0);
  const TensorId squares = gradient.apply(ScalarOp::mul, {x, x});
  Chain based;
  const ScalarRef part =
      based.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::constant(alpha)});
  based.append(ScalarOp::add, {part, ScalarRef::constant(as_f32(node.real("bias", 1.0)))});
  const TensorId base = gradient.chain(based, {window_sum(gradient, squares, before, behind)});
  const TensorId output_gradient = gradient.of_output();
  Chain shared;
  shared.input_count = 3;
  const ScalarRef both = shared.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
  shared.append(ScalarOp::div, {both, ScalarRef::input(2)});
  const TensorId share = gradient.chain(shared, {output_gradient, node.output_id(), base});
  Chain chain;
  chain.input_count = 4;
  const ScalarRef power =
      chain.append(ScalarOp::pow, {ScalarRef::input(2), ScalarRef::constant(beta)});
  const ScalarRef own = chain.append(ScalarOp::div, {ScalarRef::input(0), power});
  const ScalarRef scaled =
      chain.append(ScalarOp::mul, {ScalarRef::input(1), ScalarRef::constant(2.0 * alpha * beta)});
  const ScalarRef others = chain.append(ScalarOp::mul, {scaled, ScalarRef::input(3)});
  chain.append(ScalarOp::sub, {own, others});
  gradient.give(0, gradient.chain(chain, {output_gradient, x, base,
                                          window_sum(gradient, share, behind, before)}));
}

}  // namespace

const Operator& operator_LRN() {
  static const Operator kOperator{
      .name = "LRN",
      .attributes = {"alpha", "beta", "bias", "size"},
      .since_opset = 1,
      .infer =
          [](const NodeView& node) {
            (void)size_of_window(node);
            return std::vector<TensorType>{node.input(0)};
          },
      .host = {.reference = reference_lrn},
      .lower = lower_lrn,
      .gradient = gradient_of_lrn,
  };
  return kOperator;
}

}  // namespace morton::ops
