// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "source/epilogue.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

std::string scaled_by(double factor) {
  Chain chain;
  chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::constant(factor)});
  return epilogue_function(TypedChain(chain, {DType::f32}), "f");
}

TEST(Epilogue, WritesNumbersThatOpenClReads) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(scaled_by(0.1), HasSubstr("(v * (0.100000001f))"));
  EXPECT_THAT(scaled_by(-3.0), HasSubstr("(v * (-3.00000000f))"));
  EXPECT_THAT(scaled_by(kInfinity), HasSubstr("(v * INFINITY)"));
  EXPECT_THAT(scaled_by(-kInfinity), HasSubstr("(v * (-INFINITY))"));
  EXPECT_THAT(scaled_by(1e300), HasSubstr("(v * INFINITY)"));
  EXPECT_THAT(scaled_by(std::numeric_limits<double>::quiet_NaN()), HasSubstr("(v * NAN)"));
}

}  // namespace
}  // namespace morton::test
