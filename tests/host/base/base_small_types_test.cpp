// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/small_types.hpp"
#include "morton/tensor.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::array kStoredReals{DType::f8e4m3fn,   DType::f8e4m3fnuz, DType::f8e5m2,
                                  DType::f8e5m2fnuz, DType::f8e8m0,     DType::f4e2m1,
                                  DType::f6e2m3,     DType::f6e3m2};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int code(DType type, float value, OutOfRange out = OutOfRange::saturates,
         PowerRounding rounding = PowerRounding::up) {
  return to_stored_real(type, value, out, rounding);
}

TEST(StoredReals, EveryCodeIsItsNumbersCode) {
  for (const DType type : kStoredReals) {
    for (int given = 0; given < 1 << bits_of(type); ++given) {
      const float value = from_stored_real(type, static_cast<std::uint8_t>(given));
      const int back = code(type, value, OutOfRange::stays);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(from_stored_real(type, static_cast<std::uint8_t>(back))));
      } else {
        EXPECT_EQ(back, given) << name_of(type) << " " << value;
      }
    }
  }
}

/// BitCast and copies of tensors keep what arithmetic does not: which NaN it was.
TEST(StoredReals, EveryCodeComesBackFromItsValue) {
  for (const DType type : kStoredReals) {
    for (int given = 0; given < 1 << bits_of(type); ++given) {
      const float value = from_stored_real(type, static_cast<std::uint8_t>(given));
      const auto through_double = static_cast<float>(static_cast<double>(value));
      EXPECT_EQ(to_stored_real(type, through_double), given) << name_of(type);
    }
  }
}

TEST(StoredReals, HaveTheNumbersOfTheirFormats) {
  EXPECT_EQ(from_stored_real(DType::f8e4m3fn, 0x7e), 448.0F);
  EXPECT_EQ(from_stored_real(DType::f8e4m3fn, 0x01), 0x1p-9F);
  EXPECT_EQ(from_stored_real(DType::f8e4m3fnuz, 0x7f), 240.0F);
  EXPECT_EQ(from_stored_real(DType::f8e5m2, 0x7b), 57344.0F);
  EXPECT_EQ(from_stored_real(DType::f8e5m2, 0xfc), -kInfinity);
  EXPECT_EQ(from_stored_real(DType::f8e5m2fnuz, 0x01), 0x1p-17F);
  EXPECT_EQ(from_stored_real(DType::f8e8m0, 0), 0x1p-127F);
  EXPECT_EQ(from_stored_real(DType::f8e8m0, 254), 0x1p127F);
  EXPECT_EQ(from_stored_real(DType::f4e2m1, 0xf), -6.0F);
  EXPECT_EQ(from_stored_real(DType::f6e2m3, 0x1f), 7.5F);
  EXPECT_EQ(from_stored_real(DType::f6e3m2, 0x1f), 28.0F);
  EXPECT_TRUE(std::isnan(from_stored_real(DType::f8e4m3fn, 0xff)));
  EXPECT_TRUE(std::isnan(from_stored_real(DType::f8e4m3fnuz, 0x80)));
}

TEST(StoredReals, RoundToEven) {
  EXPECT_EQ(code(DType::f8e4m3fn, 1.0625F), 0x38);   // halfway to 1.125
  EXPECT_EQ(code(DType::f8e4m3fn, 1.1875F), 0x3a);   // halfway from 1.125 to 1.25
  EXPECT_EQ(code(DType::f8e4m3fn, 0x1p-10F), 0x00);  // half of the least
  EXPECT_EQ(code(DType::f8e4m3fn, 0x1.8p-9F), 0x02);
  EXPECT_EQ(code(DType::f4e2m1, 2.5F), 0x4);
  EXPECT_EQ(code(DType::f4e2m1, -5.0F), 0xe);
}

TEST(StoredReals, SaturateUnlessTheyStayOpen) {
  EXPECT_EQ(code(DType::f8e4m3fn, kInfinity), 0x7e);
  EXPECT_EQ(code(DType::f8e4m3fn, -1e6F, OutOfRange::stays), 0xff);
  EXPECT_EQ(code(DType::f8e5m2, 1e6F), 0x7b);
  EXPECT_EQ(code(DType::f8e5m2, 1e6F, OutOfRange::stays), 0x7c);
  EXPECT_EQ(code(DType::f8e5m2fnuz, 1e6F, OutOfRange::stays), 0x80);
  EXPECT_EQ(code(DType::f8e4m3fnuz, -0.0F), 0);
  EXPECT_EQ(code(DType::f6e2m3, 100.0F, OutOfRange::stays), 0x1f);
  EXPECT_EQ(code(DType::f4e2m1, std::numeric_limits<float>::quiet_NaN()), 0);
}

TEST(Powers, RoundAsTheyAreTold) {
  const auto power = [](float value, PowerRounding rounding) {
    return code(DType::f8e8m0, value, OutOfRange::saturates, rounding);
  };
  EXPECT_EQ(power(1.0F, PowerRounding::up), 127);
  EXPECT_EQ(power(1.01F, PowerRounding::up), 128);
  EXPECT_EQ(power(1.99F, PowerRounding::down), 127);
  EXPECT_EQ(power(1.49F, PowerRounding::nearest), 127);
  EXPECT_EQ(power(1.5F, PowerRounding::nearest), 128);
  EXPECT_EQ(power(0.0F, PowerRounding::up), 0);
  EXPECT_EQ(power(kInfinity, PowerRounding::up), 254);
  EXPECT_EQ(power(-1.0F, PowerRounding::up), 255);
  EXPECT_EQ(code(DType::f8e8m0, kInfinity, OutOfRange::stays), 255);
  EXPECT_EQ(code(DType::f8e8m0, 0.0F, OutOfRange::stays), 255);
}

TEST(NarrowIntegers, SaturateAndKeepTheLowestBits) {
  Tensor tensor = Tensor::allocate(DType::i4, {2});
  tensor.set(0, -20.0);
  tensor.set(1, 5.0);
  EXPECT_EQ(tensor.at(0), -8.0);
  EXPECT_EQ(tensor.at(1), 5.0);
  EXPECT_EQ(tensor.bytes(), 2U);
  EXPECT_EQ(constant_in(DType::u2, 9.0), 3.0);
  EXPECT_EQ(wrapped(DType::i4, 200.0), -8.0);
  EXPECT_EQ(wrapped(DType::u4, -1.0), 15.0);
  EXPECT_EQ(wrapped(DType::i2, 2.0), -2.0);
}

}  // namespace
}  // namespace morton::test
