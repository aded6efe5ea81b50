// SPDX-License-Identifier: Apache-2.0
#include "base/pooled_map.hpp"

#include <array>
#include <vector>

#include "base/error.hpp"

namespace morton {
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

Chain sigmoid() {
  Chain chain;
  const ScalarRef negated = chain.append(ScalarOp::neg, {ScalarRef::input(0)});
  const ScalarRef power = chain.append(ScalarOp::exp, {negated});
  const ScalarRef denominator = chain.append(ScalarOp::add, {ScalarRef::constant(1.0), power});
  chain.append(ScalarOp::div, {ScalarRef::constant(1.0), denominator});
  return chain;
}

/// By the value of MAP.
const std::vector<Chain>& maps() {
  static const std::vector<Chain> kMaps{Chain{}, maximum_with_zero(), hyperbolic_tangent(),
                                        sigmoid()};
  return kMaps;
}

}  // namespace

Chain pooled_map(std::int64_t map) {
  if (map < 0 || map >= static_cast<std::int64_t>(maps().size())) {
    throw InternalError("conv2d_pool: there is no MAP " + std::to_string(map));
  }
  return maps()[static_cast<std::size_t>(map)];
}

std::optional<std::int64_t> pooled_map_behind_bias(const Chain& epilogue) {
  Chain bias;
  bias.input_count = 2;
  bias.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
  constexpr std::array kOfBias{0, 1};
  constexpr std::array kOwn{0};
  const std::string text = epilogue.print();
  for (std::size_t m = 0; m < maps().size(); ++m) {
    if (text == maps()[m].after(bias, 0, kOfBias, kOwn).print()) {
      return static_cast<std::int64_t>(m);
    }
  }
  return std::nullopt;
}

}  // namespace morton
