// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
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
  };
  return kOperator;
}

}  // namespace morton::ops
