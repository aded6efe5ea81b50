// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/numbers/checked.hpp"
#include "base/numbers/half.hpp"
#include "base/shape.hpp"
#include "morton/error.hpp"
#include "morton/tensor.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 1, 17}), 51);
  EXPECT_EQ(element_count({3, 0, 17}), 0);
}

TEST(Shape, RefusesWhatIsOutOfRange) {
  EXPECT_THROW((void)element_count({-1}), ModelError);
  EXPECT_THROW((void)element_count({kHuge, 2}), ModelError);
  EXPECT_THROW((void)element_count({0, kHuge, kHuge}), ModelError);
  EXPECT_THROW((void)element_count({1, 1, 1, 1, 1, 1, 1, 1, 1}), ModelError);
  EXPECT_THROW((void)checked_mul(kHuge, kHuge, "test"), ModelError);
  EXPECT_THROW((void)checked_add(std::numeric_limits<std::int64_t>::max(), 1, "test"), ModelError);
  EXPECT_EQ(round_up(63, 17), 68);
  EXPECT_EQ(ceil_div(63, 17), 4);
}

TEST(Shape, HasStridesAndText) {
  EXPECT_EQ(row_major_strides({2, 3, 5}), (Shape{15, 5, 1}));
  EXPECT_EQ(to_string(Shape{1, 3, 224}), "1x3x224");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Shape, Broadcasts) {
  EXPECT_EQ(broadcast({3, 1}, {17}, "test"), (Shape{3, 17}));
  EXPECT_EQ(broadcast({}, {2, 3}, "test"), (Shape{2, 3}));
  EXPECT_EQ(broadcast({2, 1, 5}, {3, 1}, "test"), (Shape{2, 3, 5}));
  EXPECT_EQ(broadcast({1}, {0}, "test"), (Shape{0}));
  EXPECT_THROW((void)broadcast({3}, {17}, "test"), ModelError);
}

TEST(Half, EveryValueComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_half(to_half(value))));
    } else {
      ASSERT_EQ(to_half(value), half) << bits;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(from_half(to_half(1.0F + 0x1p-11F)), 1.0F);
  EXPECT_EQ(from_half(to_half(1.0F + 3 * 0x1p-11F)), 1.0F + 2 * 0x1p-10F);
  EXPECT_EQ(from_half(to_half(1.0F + 0x1.002p-11F)), 1.0F + 0x1p-10F);
  EXPECT_EQ(from_half(to_half(65519.0F)), 65504.0F);
  EXPECT_TRUE(std::isinf(from_half(to_half(65520.0F))));
  EXPECT_EQ(from_half(to_half(0x1p-25F)), 0.0F);
  EXPECT_EQ(from_half(to_half(0x1.1p-25F)), 0x1p-24F);
  EXPECT_EQ(from_half(to_half(0x1.ffbp-15F)), 0x1.ff8p-15F);
  EXPECT_EQ(from_half(to_half(0x1.ffcp-15F)), 0x1p-14F);
  EXPECT_TRUE(std::signbit(from_half(to_half(-0.0F))));
}

TEST(Tensor, OwnsSharesAndBorrows) {
  Tensor owned = Tensor::allocate(DType::f32, {3, 17});
  EXPECT_EQ(owned.size(), 51);
  EXPECT_EQ(owned.bytes(), 204U);
  EXPECT_EQ(owned.at(50), 0.0);
  Tensor copy = owned;
  copy.as_mutable<float>()[0] = 2.0F;
  EXPECT_EQ(owned.at(0), 2.0) << "copies share their bytes";
  owned.clone().set(0, 5.0);
  EXPECT_EQ(owned.at(0), 2.0) << "a clone does not";

  std::array<float, 3> values{1, 2, 3};
  Tensor borrowed = Tensor::borrow(DType::f32, {3}, values.data(), sizeof(values));
  borrowed.set(1, 7.0);
  EXPECT_EQ(values[1], 7.0F);
  Tensor shared = Tensor::share(DType::f32, {3}, values.data(), sizeof(values), nullptr);
  EXPECT_THROW(shared.set(0, 1.0), UsageError);
}

TEST(Tensor, RefusesWrongBytesTypesAndIndices) {
  std::array<float, 3> values{};
  EXPECT_THROW((void)Tensor::borrow(DType::f32, {4}, values.data(), sizeof(values)), UsageError);
  EXPECT_THROW((void)Tensor::borrow(DType::f32, {3}, nullptr, sizeof(values)), UsageError);
  EXPECT_THROW((void)Tensor::allocate(DType::f32, {-1}), ModelError);
  EXPECT_THROW((void)Tensor::from({2}, values), UsageError);
  const Tensor tensor = Tensor::from({3}, values);
  EXPECT_THROW((void)tensor.as<double>(), UsageError);
  EXPECT_THROW((void)tensor.at(3), UsageError);
  EXPECT_THROW((void)tensor.at(-1), UsageError);
  EXPECT_THROW((void)tensor.reshaped({2}), ModelError);
  EXPECT_EQ(tensor.reshaped({1, 3}).shape(), (Shape{1, 3}));
}

TEST(Tensor, ConvertsWithRoundingAndSaturation) {
  const Tensor tensor = Tensor::from({4}, std::vector<float>{-3.5F, 0.1F, 300.0F, NAN});
  const Tensor bytes = tensor.converted(DType::u8);
  EXPECT_EQ(bytes.at(0), 0.0);
  EXPECT_EQ(bytes.at(2), 255.0);
  EXPECT_EQ(bytes.at(3), 0.0);
  EXPECT_EQ(tensor.converted(DType::i8).at(0), -4.0) << "to nearest even";
  EXPECT_EQ(tensor.converted(DType::f16).at(1), static_cast<double>(from_half(to_half(0.1F))));
  EXPECT_EQ(tensor.converted(DType::boolean).at(0), 1.0);
  Tensor large = Tensor::allocate(DType::i64, {1});
  large.set(0, 1e300);
  EXPECT_EQ(large.as<std::int64_t>()[0], std::numeric_limits<std::int64_t>::max());
}

TEST(DType, HasNamesAndSizes) {
  for (const DType type : {DType::f32, DType::f16, DType::f64, DType::i8, DType::u8, DType::i32,
                           DType::i64, DType::boolean}) {
    EXPECT_EQ(parse_dtype(name_of(type)), type);
    EXPECT_EQ(static_cast<std::int64_t>(Tensor::allocate(type, {1}).bytes()), size_of(type));
  }
  EXPECT_THROW((void)parse_dtype("float"), UsageError);
}

/// Every 65,521st f32, all exponents among them: within half a step; halfway to the even one.
TEST(Tf32, IsTheNearestNumberWithTenBitsOfFraction) {
  EXPECT_EQ(to_tf32(1.0F + 0x1p-11F), 1.0F);
  EXPECT_EQ(to_tf32(1.0F + 0x3p-11F), 1.0F + 0x1p-9F);
  EXPECT_EQ(to_tf32(-(1.0F + 0x1.8p-11F)), -(1.0F + 0x1p-10F));
  EXPECT_EQ(to_tf32(0x1.fffp+127F), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(to_tf32(std::numeric_limits<float>::quiet_NaN())));
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 65521) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(value) || std::fabs(value) >= 0x1.ffcp+127F) continue;
    const float stored = to_tf32(value);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(stored) & 0x1fffU, 0U) << value;
    EXPECT_LE(std::fabs(stored - value), std::max(std::fabs(value) * 0x1p-11F, 0x1p-137F)) << value;
  }
  Tensor tensor = Tensor::allocate(DType::tf32, {1});
  tensor.set(0, 1.0 + 0x1p-12);
  EXPECT_EQ(tensor.at(0), 1.0);
}

TEST(Tensor, RowsAreTheSameBytes) {
  const Tensor tensor = Tensor::from({3, 2}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const Tensor last = tensor.rows(1, 2);
  EXPECT_EQ(last.shape(), (Shape{2, 2}));
  EXPECT_EQ(last.data(), tensor.data() + 2 * sizeof(float));
  EXPECT_EQ(last.at(3), 5.0);
  EXPECT_EQ(tensor.rows(3, 0).size(), 0);
  EXPECT_THROW((void)tensor.rows(2, 2), UsageError);
  EXPECT_THROW((void)tensor.rows(-1, 1), UsageError);
  EXPECT_THROW((void)Tensor::from({}, std::vector<float>{1}).rows(0, 1), UsageError);
}

}  // namespace
/// The numbers 0, 1, 2, ... one byte behind where floats may lie.
struct UnalignedFloats {
  explicit UnalignedFloats(std::int64_t count)
      : bytes(static_cast<std::size_t>(count) * sizeof(float) + sizeof(float)) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(i);
      std::memcpy(bytes.data() + 1 + static_cast<std::size_t>(i) * sizeof value, &value,
                  sizeof value);
    }
  }
  std::vector<std::byte> bytes;
};

TEST(Tensor, OfAMappedFileIsReadAtAnyAlignment) {
  const UnalignedFloats floats(5);
  const Tensor tensor =
      Tensor::of_mapped_file(DType::f32, {5}, floats.bytes.data() + 1, 20, nullptr);
  EXPECT_EQ(tensor.stored(), floats.bytes.data() + 1);
  EXPECT_EQ(tensor.at(3), 3.0);
  EXPECT_EQ(tensor.clone().at(4), 4.0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % alignof(float), 0U);
  EXPECT_EQ(tensor.as<float>()[2], 2.0F);
  EXPECT_EQ(tensor.data(), tensor.reshaped({5, 1}).data()) << "there is one copy";
}

}  // namespace morton::test
