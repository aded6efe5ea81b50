// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "host/layout_random.hpp"
#include "layout/arrangement.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::LayoutSource;
using test::next;

constexpr std::byte kJunk{0xA5};

std::vector<std::byte> packed(const Tensor& tensor, const Arrangement& arrangement) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(arrangement)), kJunk);
  pack(tensor, arrangement, bytes);
  return bytes;
}

/// 1, 2, 3, ... so that no element is the padding's zero.
Tensor counting(DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set(i, static_cast<double>(i % 119 + 1));
  return tensor;
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// A tensor of the bytes of an arrangement, to read single elements.
Tensor raw(std::vector<std::byte>& bytes, DType dtype) {
  const auto count = static_cast<std::int64_t>(bytes.size()) / size_of(dtype);
  return Tensor::borrow(dtype, {count}, bytes.data(), bytes.size());
}

constexpr DType kPackTypes[] = {DType::f32, DType::f16, DType::f64,
                                DType::i8,  DType::u8,  DType::i64};

TEST(Pack, PutsEveryElementWhereItsOffsetSaysAndZeroElsewhere) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LayoutSource source(seed);
    const Shape shape = source.shape(static_cast<int>(source.between(1, 4)), 400);
    const Arrangement a = source.arrangement(shape, kPackTypes[source.between(0, 5)]);
    SCOPED_TRACE(to_string(shape) + " as " + print(a));
    const Tensor tensor = counting(a.dtype, shape);
    std::vector<std::byte> bytes = packed(tensor, a);
    EXPECT_TRUE(equal(unpack(bytes, a), tensor));
    Tensor memory = raw(bytes, a.dtype);
    Shape at(shape.size(), 0);
    std::int64_t index = 0;
    do {
      const std::int64_t offset = offset_of(a, at);
      ASSERT_EQ(memory.at(offset), tensor.at(index++));
      memory.set(offset, 0);
    } while (next(at, shape));
    for (std::int64_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory.at(i), 0) << "at " << i;
  }
}

TEST(Pack, TakesScalarsAndEmptyTensors) {
  const Arrangement scalar = row_major_arrangement(DType::f32, {});
  const Tensor one = counting(DType::f32, {});
  EXPECT_TRUE(equal(unpack(packed(one, scalar), scalar), one));
  const Arrangement empty = make_arrangement(DType::f32, {0, 3}, {{0}, {1}}, Layout::row_major(2),
                                             {4, 4}, PaddingContents::zero);
  EXPECT_TRUE(equal(unpack(packed(counting(DType::f32, {0, 3}), empty), empty),
                    counting(DType::f32, {0, 3})));
}

TEST(Pack, ConvertsTheElementType) {
  const Arrangement a = make_arrangement(DType::f16, {3, 5}, {{1}, {0}}, Layout::row_major(2),
                                         {1, 4}, PaddingContents::zero);
  const Tensor tensor = counting(DType::f32, {3, 5});
  EXPECT_TRUE(equal(unpack(packed(tensor, a), a), tensor.converted(DType::f16)));
}

TEST(Pack, RefusesWrongShapesAndSizes) {
  const Arrangement a = row_major_arrangement(DType::f32, {3, 5});
  std::vector<std::byte> bytes(60);
  EXPECT_THROW(pack(counting(DType::f32, {5, 3}), a, bytes), ModelError);
  bytes.resize(56);
  EXPECT_THROW(pack(counting(DType::f32, {3, 5}), a, bytes), UsageError);
  EXPECT_THROW(static_cast<void>(unpack(bytes, a)), UsageError);
}

Tensor packed_through(const Tensor& source, const View& view, const Environment& extents,
                      const Arrangement& a) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(a)), kJunk);
  pack_through(source, view, extents, a, bytes);
  return unpack(bytes, a);
}

TEST(PackThrough, AGroupedViewIsAnArrangementOfTheTensor) {
  const Tensor tensor = counting(DType::f32, {3, 2, 5, 7});
  const std::vector<Expression> extents{Expression::variable("N"), Expression::variable("C"),
                                        Expression::variable("H"), Expression::variable("W")};
  const Grouping grouping{{1}, {0, 2, 3}};
  const View view = View::grouped({"C", "P"}, grouping, extents);
  const Layout layout = Layout::parse("R_2_4_R", std::vector<std::string>{"C", "P"});
  const Arrangement operand =
      make_arrangement(DType::f32, {2, 105}, {{0}, {1}}, layout, {1, 1}, PaddingContents::zero);
  const Arrangement joined =
      make_arrangement(DType::f32, {3, 2, 5, 7}, grouping, layout, {1, 1}, PaddingContents::zero);
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(operand)), kJunk);
  pack_through(tensor, view, {{"N", 3}, {"C", 2}, {"H", 5}, {"W", 7}}, operand, bytes);
  EXPECT_EQ(bytes, packed(tensor, joined));
}

// im2col of a 5x4 image of 3 channels, filter 3x2, stride 2x1, padding 1 above and at the left.
TEST(PackThrough, ReadsOutsideWhereTheViewIsBounded) {
  const Tensor image = counting(DType::f32, {3, 5, 4});
  const auto expression = [](const char* text) { return Expression::parse(text, "test"); };
  View view = View::mapped({"K", "N"},
                           {expression("k / (KH * KW)"), expression("n / OW * 2 + k / KW % KH - 1"),
                            expression("n % OW + k % KW - 1")},
                           {Expression(3), Expression(5), Expression(4)});
  const Environment extents{{"KH", 3}, {"KW", 2}, {"OW", 4}};
  const Arrangement a = make_arrangement(
      DType::f32, {18, 12}, {{0}, {1}},
      Layout::parse("C_4_2_C", std::vector<std::string>{"K", "N"}), {1, 8}, PaddingContents::zero);
  EXPECT_THROW(packed_through(image, view, extents, a), ModelError);
  view.bounded = true;
  view.outside = -7;
  const Tensor columns = packed_through(image, view, extents, a);
  for (std::int64_t k = 0; k < 18; ++k) {
    for (std::int64_t n = 0; n < 12; ++n) {
      const std::int64_t row = n / 4 * 2 + k / 2 % 3 - 1;
      const std::int64_t column = n % 4 + k % 2 - 1;
      const bool inside = row >= 0 && row < 5 && column >= 0 && column < 4;
      const double expected = inside ? image.at((k / 6 * 5 + row) * 4 + column) : -7.0;
      ASSERT_EQ(columns.at(k * 12 + n), expected) << "k " << k << " n " << n;
    }
  }
}

// Each coordinate here depends on one dimension, or on none.
TEST(PackThrough, PadsInEveryElementSize) {
  const auto expression = [](const char* text) { return Expression::parse(text, "test"); };
  View view =
      View::mapped({"M", "N"}, {expression("n - 2"), expression("S"), expression("m * 2 - 1")},
                   {Expression(3), Expression(4), Expression(5)});
  view.bounded = true;
  view.outside = 9;
  for (const DType type : {DType::u8, DType::i16, DType::f32, DType::f64}) {
    const Tensor tensor = counting(type, {3, 4, 5});
    const Tensor seen =
        packed_through(tensor, view, {{"S", 3}}, row_major_arrangement(type, {4, 7}));
    for (std::int64_t m = 0; m < 4; ++m) {
      for (std::int64_t n = 0; n < 7; ++n) {
        const std::int64_t row = n - 2;
        const std::int64_t column = m * 2 - 1;
        const bool inside = row >= 0 && row < 3 && column >= 0 && column < 5;
        ASSERT_EQ(seen.at(m * 7 + n), inside ? tensor.at((row * 4 + 3) * 5 + column) : 9.0)
            << name_of(type) << " m " << m << " n " << n;
      }
    }
    const Tensor nowhere =
        packed_through(tensor, view, {{"S", 4}}, row_major_arrangement(type, {4, 7}));
    for (std::int64_t i = 0; i < nowhere.size(); ++i) ASSERT_EQ(nowhere.at(i), 9.0);
  }
}

TEST(PackThrough, BroadcastsAndRefusesRanksThatDoNotMatch) {
  const Tensor bias = counting(DType::f32, {5});
  const View view = View::mapped({"M", "N"}, {Expression::variable("m")}, {Expression(5)});
  const Arrangement a = row_major_arrangement(DType::f32, {5, 3});
  const Tensor spread = packed_through(bias, view, {}, a);
  for (std::int64_t i = 0; i < 15; ++i) EXPECT_EQ(spread.at(i), bias.at(i / 3));
  EXPECT_THROW(packed_through(counting(DType::f32, {5, 1}), view, {}, a), ModelError);
  EXPECT_THROW(packed_through(bias, view, {}, row_major_arrangement(DType::f32, {5})), ModelError);
  const View unknown = View::mapped({"M", "N"}, {Expression::variable("OW")}, {Expression(5)});
  EXPECT_THROW(packed_through(bias, unknown, {}, a), ModelError);
}

}  // namespace
}  // namespace morton::test
