// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/algebra/chain.hpp"
#include "base/algebra/typed_chain.hpp"
#include "morton/error.hpp"
#include "ops/core/elementwise.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr double kChainNan = std::numeric_limits<double>::quiet_NaN();

Chain relu() {
  Chain chain;
  chain.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(0.0)});
  return chain;
}

double value_of(const Chain& chain, std::vector<Bounded> inputs) {
  return chain.evaluate(inputs).value;
}

TEST(Chain, StartsAsTheIdentity) {
  const Chain chain;
  EXPECT_TRUE(chain.is_identity());
  EXPECT_EQ(chain.print(), "v");
  EXPECT_EQ(value_of(chain, {{3.0, 0.0}}), 3.0);
}

TEST(Chain, ComputesEachPrimitive) {
  const double x = 0.75;
  const double y = -0.5;
  const auto two = [&](ScalarOp op) { return value_of(single_step(op), {{x, 0}, {y, 0}}); };
  const auto one = [&](ScalarOp op) { return value_of(single_step(op), {{x, 0}}); };
  EXPECT_DOUBLE_EQ(two(ScalarOp::add), 0.25);
  EXPECT_DOUBLE_EQ(two(ScalarOp::sub), 1.25);
  EXPECT_DOUBLE_EQ(two(ScalarOp::mul), -0.375);
  EXPECT_DOUBLE_EQ(two(ScalarOp::div), -1.5);
  EXPECT_DOUBLE_EQ(two(ScalarOp::min), y);
  EXPECT_DOUBLE_EQ(two(ScalarOp::max), x);
  EXPECT_DOUBLE_EQ(one(ScalarOp::neg), -x);
  EXPECT_DOUBLE_EQ(value_of(single_step(ScalarOp::abs), {{y, 0}}), 0.5);
  EXPECT_DOUBLE_EQ(one(ScalarOp::exp), std::exp(x));
  EXPECT_DOUBLE_EQ(one(ScalarOp::log), std::log(x));
  EXPECT_DOUBLE_EQ(one(ScalarOp::sqrt), std::sqrt(x));
  EXPECT_DOUBLE_EQ(one(ScalarOp::tanh), std::tanh(x));
  EXPECT_DOUBLE_EQ(one(ScalarOp::erf), std::erf(x));
}

/// The largest whole number of 64 bits is 2^63 as a double, so the reference's bits are others.
TEST(Chain, BoundsWhatBitsOfLongWholeNumbersMayBe) {
  const Bounded largest{0x1p63, 0x1p11};
  const auto error_of = [&](ScalarOp op, DType type, const Bounded& a, double b) {
    const TypedChain chain(single_step(op), {type, type});
    return chain.evaluate(std::vector<Bounded>{a, {b, 0.0}}).error;
  };
  EXPECT_GE(error_of(ScalarOp::bit_and, DType::i64, largest, 3.0), 3.0);
  // 2^63 - 5, and -2^63.
  EXPECT_GE(error_of(ScalarOp::mul, DType::i64, largest, 5.0), 0x1p64);
  // A product that cannot overflow has its own bound.
  EXPECT_EQ(error_of(ScalarOp::mul, DType::i32, {7.0, 1.0}, 5.0), 5.0);
}

/// The rest of a division by what may be 0 may be a NaN.
TEST(Chain, GivesNoBoundForARestByZero) {
  const auto error_of = [&](const Bounded& divisor) {
    const std::vector<Bounded> inputs{{1.0, 0.0}, divisor};
    return single_step(ScalarOp::rem).evaluate(inputs).error;
  };
  EXPECT_TRUE(std::isinf(error_of({-3e-7, 5e-7})));
  EXPECT_LT(error_of({-3e-7, 1e-7}), 1e-6);
}

/// What has no bound may be a NaN, of which every function is one.
TEST(Chain, GivesNoBoundForFunctionsOfWhatHasNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<Bounded> inputs{{2.0, kInfinity}, {3.0, 0.0}};
  for (const ScalarOp op : {ScalarOp::cos, ScalarOp::tanh}) {
    EXPECT_TRUE(std::isinf(single_step(op).evaluate(inputs).error)) << facts_of(op).name;
  }
  EXPECT_EQ(single_step(ScalarOp::less).evaluate(inputs).error, 1.0);
}

/// Infinity times a number is an infinity for sure where its sign is.
TEST(Chain, BoundsInfinities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto error_of = [&](ScalarOp op, const Bounded& a, const Bounded& b) {
    return single_step(op).evaluate(std::vector<Bounded>{a, b}).error;
  };
  EXPECT_EQ(error_of(ScalarOp::mul, {kInfinity, 0.0}, {0.5, 0.25}), 0.0);
  EXPECT_TRUE(std::isinf(error_of(ScalarOp::mul, {kInfinity, 0.0}, {0.5, 0.5})));
  EXPECT_TRUE(std::isinf(error_of(ScalarOp::mul, {1e30, 0.0}, {1e9, 0.9999e9})));
  EXPECT_TRUE(std::isinf(error_of(ScalarOp::add, {-kInfinity, kInfinity}, {1.0, 0.0})));
}

TEST(Chain, RefusesAWrongNumberOfArguments) {
  Chain chain;
  EXPECT_THROW(chain.append(ScalarOp::add, {ScalarRef::input(0)}), InternalError);
}

TEST(Chain, JoinsBehindAProducer) {
  // tanh(v + s1) behind v * s1: the producer's side is input 1 of both, this chain's becomes
  // input 2.
  Chain outer = single_step(ScalarOp::add);
  outer.append(ScalarOp::tanh, {ScalarRef::step(0)});
  const Chain inner = single_step(ScalarOp::mul);
  const Chain joined = outer.after(inner, 0, std::vector<int>{0, 1}, std::vector<int>{0, 2});
  EXPECT_EQ(joined.print(), "tanh(add(mul(v, s1), s2))");
  EXPECT_EQ(joined.input_count, 3);
  EXPECT_DOUBLE_EQ(value_of(joined, {{2, 0}, {0.25, 0}, {0.125, 0}}), std::tanh(0.625));
}

TEST(Chain, JoinsAtAnyInput) {
  // s - v, its second input replaced by relu(v): sub(s1, max(v, 0)).
  const Chain joined =
      single_step(ScalarOp::sub).after(relu(), 1, std::vector<int>{0}, std::vector<int>{1, 0});
  EXPECT_EQ(joined.print(), "sub(s1, max(v, 0))");
  EXPECT_DOUBLE_EQ(value_of(joined, {{-3, 0}, {5, 0}}), 5.0);
}

TEST(Chain, JoinsIdentities) {
  const Chain right = relu().after(Chain{}, 0, std::vector<int>{0}, std::vector<int>{0});
  EXPECT_EQ(right.print(), "max(v, 0)");
  const Chain left = Chain{}.after(relu(), 0, std::vector<int>{0}, std::vector<int>{0});
  EXPECT_EQ(left.print(), "max(v, 0)");
  EXPECT_TRUE(Chain{}.after(Chain{}, 0, std::vector<int>{0}, std::vector<int>{0}).is_identity());
}

TEST(Chain, KeepsNan) {
  EXPECT_TRUE(std::isnan(value_of(relu(), {{kChainNan, 0}})));
  EXPECT_TRUE(std::isnan(value_of(single_step(ScalarOp::add), {{kChainNan, 0}, {1, 0}})));
  EXPECT_TRUE(std::isnan(value_of(single_step(ScalarOp::min), {{kChainNan, 0}, {1, 0}})));
  EXPECT_TRUE(std::isnan(value_of(single_step(ScalarOp::sqrt), {{-1, 0}})));
}

/// tanh(-x) + 1 is 0 in double, and 6e-8 on a device: times infinity that is a NaN, or infinity.
TEST(Chain, GivesNoBoundForARoundedZeroTimesInfinity) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Chain multiply = single_step(ScalarOp::mul);
  const auto error_of = [&](const Bounded& zero) {
    const std::vector<Bounded> inputs{zero, {kInfinity, 0.0}};
    const Bounded result = multiply.evaluate(inputs);
    EXPECT_TRUE(std::isnan(result.value));
    return result.error;
  };
  EXPECT_EQ(error_of({0.0, 0.0}), 0.0);
  EXPECT_EQ(error_of({0.0, 6e-8}), kInfinity);
}

/// f32 results lie within the bound, and a result of half the bits does not.
TEST(Chain, BoundsF32AndNothingWorse) {
  Chain sigmoid;
  sigmoid.append(ScalarOp::neg, {ScalarRef::input(0)});
  sigmoid.append(ScalarOp::exp, {ScalarRef::step(0)});
  sigmoid.append(ScalarOp::add, {ScalarRef::constant(1.0), ScalarRef::step(1)});
  sigmoid.append(ScalarOp::div, {ScalarRef::constant(1.0), ScalarRef::step(2)});
  for (const float x : {-20.0F, -3.1F, -0.7F, 0.0F, 0.3F, 1.9F, 17.0F}) {
    const Bounded expected = sigmoid.evaluate(std::vector<Bounded>{{x, 0.0}});
    const float got = 1.0F / (1.0F + std::exp(-x));
    EXPECT_TRUE(test::matches(expected.value, expected.error, static_cast<double>(got))) << x;
    EXPECT_FALSE(test::matches(expected.value, expected.error, expected.value * (1 + 1e-4))) << x;
    EXPECT_LT(expected.error, 1e-5 * expected.value + 1e-37) << x;
  }
}

TEST(Chain, CarriesTheErrorsOfItsInputs) {
  const auto error_of = [](const Chain& chain, std::vector<Bounded> inputs) {
    return chain.evaluate(inputs).error;
  };
  EXPECT_NEAR(error_of(single_step(ScalarOp::add), {{1, 1e-3}, {2, 2e-3}}), 3e-3, 1e-5);
  EXPECT_NEAR(error_of(single_step(ScalarOp::mul), {{3, 1e-3}, {2, 0}}), 2e-3, 1e-5);
  EXPECT_NEAR(error_of(single_step(ScalarOp::exp), {{2, 1e-3}}), std::exp(2.0) * 1e-3, 1e-4);
  EXPECT_NEAR(error_of(relu(), {{-1, 1e-3}}), 0.0, 1e-30);
  EXPECT_NEAR(error_of(relu(), {{0, 1e-3}}), 1e-3, 1e-30);
}

TEST(Chain, OverflowOfTheHostsExpIsNoNan) {
  Chain sigmoid;
  sigmoid.append(ScalarOp::exp, {ScalarRef::input(0)});
  sigmoid.append(ScalarOp::add, {ScalarRef::constant(1.0), ScalarRef::step(0)});
  sigmoid.append(ScalarOp::div, {ScalarRef::constant(1.0), ScalarRef::step(1)});
  const Bounded result = sigmoid.evaluate(std::vector<Bounded>{{1000.0, 0.0}});
  EXPECT_EQ(result.value, 0.0);
  EXPECT_TRUE(test::matches(result.value, result.error, 0.0));
}

}  // namespace
}  // namespace morton::test
