// SPDX-License-Identifier: Apache-2.0
#include "problems/conv2d_pool.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

Chain maximum_with_zero() {
  Chain chain;
  chain.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(0.0)});
  return chain;
}

Chain hyperbolic_tangent() {
  Chain chain;
  chain.append(ScalarOp::tanh, {ScalarRef::input(0)});
  return chain;
}

Chain logistic_function() {
  Chain chain;
  const ScalarRef negated = chain.append(ScalarOp::neg, {ScalarRef::input(0)});
  const ScalarRef power = chain.append(ScalarOp::exp, {negated});
  const ScalarRef denominator = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), power});
  chain.append(ScalarOp::div, {ScalarRef::constant(1.0), denominator});
  return chain;
}

/// By the number of the map.
const std::vector<Chain>& pooled_maps() {
  static const std::vector<Chain> kMaps{Chain{}, maximum_with_zero(), hyperbolic_tangent(),
                                        logistic_function()};
  return kMaps;
}

/// One value of the convolution, with its bias and mapped.
double mapped_sum_at(ProblemReader& problem, const Conv2dPoolStructure& both, const Chain& map,
                     const Coordinates& at) {
  const double sum = convolution_at(problem, both.conv, at) + problem.load("bias", {at[1]});
  const Bounded operands[] = {{sum, 0.0}};
  return map.evaluate(operands).value;
}

std::optional<double> conv2d_pool_at(ProblemReader& problem, const Coordinates& at) {
  const auto both = problem.structure<Conv2dPoolStructure>();
  const Chain map = pooled_map(both.map);
  const SlidingWindow::Pair image{problem.size("RH"), problem.size("RW")};
  double sum = 0.0;
  double largest = -std::numeric_limits<double>::infinity();
  both.window.for_inside(
      {at[2], at[3]}, image, [&](std::int64_t, std::int64_t, std::int64_t y, std::int64_t x) {
        const double value = mapped_sum_at(problem, both, map, {at[0], at[1], y, x});
        sum += value;
        largest = std::max(largest, value);
      });
  if (both.combine == Conv2dPoolStructure::Combine::largest) return largest;
  const AveragePool2dStructure average{both.window, both.after, both.count};
  return sum / static_cast<double>(average.divisor({at[2], at[3]}, image));
}

}  // namespace

Chain pooled_map(PooledMap map) {
  const auto number = static_cast<std::size_t>(map);
  if (number >= pooled_maps().size()) {
    throw InternalError("conv2d_pool: there is no MAP " + std::to_string(number));
  }
  return pooled_maps()[number];
}

std::optional<PooledMap> pooled_map_behind_bias(const Chain& epilogue) {
  Chain bias;
  bias.input_count = 2;
  bias.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
  constexpr std::array kOfBias{0, 1};
  constexpr std::array kOwn{0};
  const std::string text = epilogue.print();
  for (std::size_t m = 0; m < pooled_maps().size(); ++m) {
    if (text == pooled_maps()[m].after(bias, 0, kOfBias, kOwn).print()) {
      return static_cast<PooledMap>(m);
    }
  }
  return std::nullopt;
}

ProblemFamily family_conv2d_pool() {
  return {.id = families::conv2d_pool,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"weights", {"O", "I", "KH", "KW"}},
                       {"bias", {"O"}},
                       OperandSchema::dst({"N", "O", "OH", "OW"})},
          .structure = field_names<Conv2dPoolStructure>(),
          .parameters = {"RH", "RW"},
          .flop = Expression::parse("2*N*O*RH*RW*I*KH*KW + N*O*OH*OW*QH*QW", "conv2d_pool"),
          .value_at = conv2d_pool_at};
}

}  // namespace morton::problems
