// SPDX-License-Identifier: Apache-2.0
//
// Packing slab by slab gives the bytes that packing at once gives, whatever a slab's size.
#include <gtest/gtest.h>

#include <cstring>

#include "host/layout_random.hpp"
#include "layout/pack_slabs.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::LayoutSource;

constexpr std::byte kUnwritten{0xA5};

Tensor slab_values(DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set(i, static_cast<double>(i % 119 + 1));
  return tensor;
}

/// The bytes that all slabs leave, which must not lie over one another, and the largest slab.
struct Joined {
  std::vector<std::byte> bytes;
  std::size_t largest = 0;
  int slabs = 0;
};

/// Joins what `hand_out(take)` gives to its TakeSlab.
template <typename HandOut>
Joined join(const Arrangement& arrangement, const HandOut& hand_out) {
  Joined joined;
  joined.bytes.assign(static_cast<std::size_t>(bytes_of(arrangement)), kUnwritten);
  std::size_t end = 0;
  hand_out([&](const Slab& slab) {
    EXPECT_EQ(static_cast<std::size_t>(slab.offset_bytes), end);
    const auto size = static_cast<std::size_t>(slab.bytes);
    end += size;
    ASSERT_LE(end, joined.bytes.size());
    slab.fill(std::span(joined.bytes).subspan(end - size, size));
    joined.largest = std::max(joined.largest, size);
    ++joined.slabs;
  });
  EXPECT_EQ(end, joined.bytes.size());
  return joined;
}

Joined join(const Tensor& tensor, const Arrangement& arrangement, std::int64_t most_bytes) {
  return join(arrangement,
              [&](const TakeSlab& take) { pack_in_slabs(tensor, arrangement, most_bytes, take); });
}

TEST(PackInSlabs, LeavesTheBytesOfPackingAtOnce) {
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::f64, DType::i8};
  int in_several = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    LayoutSource source(seed);
    const Shape shape = source.shape(static_cast<int>(source.between(1, 4)), 900);
    const Arrangement a = source.arrangement(shape, kTypes[source.between(0, 3)]);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(a));
    const Tensor tensor = slab_values(a.dtype, shape);
    std::vector<std::byte> whole(static_cast<std::size_t>(bytes_of(a)), kUnwritten);
    pack(tensor, a, whole);
    for (const std::int64_t most : {std::int64_t{1}, source.between(8, 500), bytes_of(a)}) {
      const Joined joined = join(tensor, a, most);
      EXPECT_EQ(joined.bytes, whole) << "in slabs of " << most;
      if (joined.slabs > 1) ++in_several;
    }
  }
  EXPECT_GT(in_several, 100);
}

TEST(PackInSlabs, NeedsNoMoreThanWasAsked) {
  // Panels of 16 columns of a matrix of 640 x 33.
  const Arrangement a =
      make_arrangement(DType::f32, {640, 33}, {{0}, {1}}, Layout(2, {{1, 0}, {0, 0}, {1, 16}}),
                       {1, 16}, PaddingContents::zero);
  constexpr std::int64_t kPanelBytes = 640 * 16 * 4;
  const Joined joined = join(slab_values(DType::f32, {640, 33}), a, kPanelBytes + 1);
  EXPECT_EQ(joined.slabs, 3);
  EXPECT_EQ(joined.largest, static_cast<std::size_t>(kPanelBytes));
}

TEST(PackInSlabs, ReadsBytesAtAnyAlignment) {
  const Tensor tensor = slab_values(DType::f32, {40, 17});
  std::vector<std::byte> file(tensor.bytes() + 1);
  std::memcpy(file.data() + 1, tensor.data(), tensor.bytes());
  const Tensor shifted =
      Tensor::of_mapped_file(DType::f32, {40, 17}, file.data() + 1, tensor.bytes(), nullptr);
  const Arrangement a =
      make_arrangement(DType::f32, {40, 17}, {{0}, {1}}, Layout(2, {{0, 0}, {1, 0}, {0, 8}}),
                       {8, 1}, PaddingContents::zero);
  EXPECT_EQ(join(shifted, a, 17 * 8 * 4).bytes, join(tensor, a, 17 * 8 * 4).bytes);
}

TEST(PackInSlabs, ConvertsWhatIsOfAnotherType) {
  const Tensor tensor = slab_values(DType::f32, {5, 7});
  Arrangement a = row_major_arrangement(DType::f16, {5, 7});
  std::vector<std::byte> whole(static_cast<std::size_t>(bytes_of(a)));
  pack(tensor, a, whole);
  EXPECT_EQ(join(tensor, a, 1).bytes, whole);
}

/// What an operand sees that skips every second element of its dimensions, from the second on, and
/// leaves the tensor at the end of each.
View every_second(std::size_t rank) {
  std::vector<std::string> names;
  std::vector<Expression> coordinates;
  for (std::size_t d = 0; d < rank; ++d) {
    names.push_back(std::string(1, static_cast<char>('A' + d)));
    coordinates.push_back(Expression::variable(coordinate_name(names.back())) * 2 + 1);
  }
  View view = View::mapped(names, std::move(coordinates), std::vector<Expression>(rank));
  view.bounded = true;
  view.outside = 7;
  return view;
}

TEST(PackThroughInSlabs, LeavesTheBytesOfPackingAtOnce) {
  constexpr DType kTypes[] = {DType::f32, DType::f16};
  int in_several = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    LayoutSource source(seed);
    const Shape shape = source.shape(static_cast<int>(source.between(1, 4)), 900);
    const Arrangement a = source.arrangement(shape, kTypes[source.between(0, 1)]);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(a));
    Shape of_tensor;
    for (const std::int64_t extent : shape) of_tensor.push_back(2 * extent);
    of_tensor.back() = std::max<std::int64_t>(1, of_tensor.back() - 1);
    const Tensor tensor = slab_values(DType::f32, of_tensor);
    const View view = every_second(shape.size());
    std::vector<std::byte> whole(static_cast<std::size_t>(bytes_of(a)), kUnwritten);
    pack_through(tensor, view, {}, a, whole);
    for (const std::int64_t most : {std::int64_t{1}, source.between(8, 500), bytes_of(a)}) {
      const Joined joined = join(
          a, [&](const TakeSlab& take) { pack_through_in_slabs(tensor, view, {}, a, most, take); });
      EXPECT_EQ(joined.bytes, whole) << "in slabs of " << most;
      if (joined.slabs > 1) ++in_several;
    }
  }
  EXPECT_GT(in_several, 100);
}

// The format of gemm.tile_filters and its like: rows of a matrix in tiles of 16.
TEST(PackThroughInSlabs, NeedsNoMoreThanWasAsked) {
  const Arrangement a =
      make_arrangement(DType::f32, {200, 33}, {{0}, {1}}, Layout(2, {{0, 0}, {1, 0}, {0, 16}}),
                       {16, 1}, PaddingContents::zero);
  constexpr std::int64_t kPanelBytes = 33 * 16 * 4;
  const Tensor tensor = slab_values(DType::f32, {400, 66});
  const Joined joined = join(a, [&](const TakeSlab& take) {
    pack_through_in_slabs(tensor, every_second(2), {}, a, 3 * kPanelBytes, take);
  });
  EXPECT_EQ(joined.slabs, 5);  // 13 panels
  EXPECT_EQ(joined.largest, static_cast<std::size_t>(3 * kPanelBytes));
}

}  // namespace
}  // namespace morton::test
