// SPDX-License-Identifier: Apache-2.0
//
// Packing slab by slab gives the bytes that packing at once gives, whatever a slab's size.
#include <gtest/gtest.h>

#include <cstring>

#include "host/layout_random.hpp"
#include "layout/pack_slabs.hpp"

namespace morton {
namespace {

using testing::LayoutSource;

constexpr std::byte kUnwritten{0xA5};

Tensor counting(DType dtype, const Shape& shape) {
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

Joined join(const Tensor& tensor, const Arrangement& arrangement, std::int64_t most_bytes) {
  Joined joined;
  joined.bytes.assign(static_cast<std::size_t>(bytes_of(arrangement)), kUnwritten);
  std::size_t end = 0;
  pack_in_slabs(tensor, arrangement, most_bytes,
                [&](std::int64_t offset, std::span<const std::byte> bytes) {
                  EXPECT_EQ(static_cast<std::size_t>(offset), end);
                  end = static_cast<std::size_t>(offset) + bytes.size();
                  ASSERT_LE(end, joined.bytes.size());
                  std::memcpy(joined.bytes.data() + offset, bytes.data(), bytes.size());
                  joined.largest = std::max(joined.largest, bytes.size());
                  ++joined.slabs;
                });
  EXPECT_EQ(end, joined.bytes.size());
  return joined;
}

TEST(PackInSlabs, LeavesTheBytesOfPackingAtOnce) {
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::f64, DType::i8};
  int in_several = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    LayoutSource source(seed);
    const Shape shape = source.shape(static_cast<int>(source.between(1, 4)), 900);
    const Arrangement a = source.arrangement(shape, kTypes[source.between(0, 3)]);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(a));
    const Tensor tensor = counting(a.dtype, shape);
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
  const Arrangement a = make_arrangement(DType::f32, {640, 33}, {{0}, {1}},
                                         Layout(2, {{1, 0}, {0, 0}, {1, 16}}), {1, 16}, Rim::zero);
  constexpr std::int64_t kPanelBytes = 640 * 16 * 4;
  const Joined joined = join(counting(DType::f32, {640, 33}), a, kPanelBytes + 1);
  EXPECT_EQ(joined.slabs, 3);
  EXPECT_EQ(joined.largest, static_cast<std::size_t>(kPanelBytes));
}

TEST(PackInSlabs, HandsOutWhatIsPackedAlready) {
  const Tensor tensor = counting(DType::f32, {3, 17});
  const std::byte* given = nullptr;
  pack_in_slabs(tensor, row_major_arrangement(DType::f32, {3, 17}), 4,
                [&](std::int64_t offset, std::span<const std::byte> bytes) {
                  EXPECT_EQ(offset, 0);
                  EXPECT_EQ(bytes.size(), tensor.bytes());
                  given = bytes.data();
                });
  EXPECT_EQ(given, tensor.data());
}

TEST(PackInSlabs, ConvertsWhatIsOfAnotherType) {
  const Tensor tensor = counting(DType::f32, {5, 7});
  Arrangement a = row_major_arrangement(DType::f16, {5, 7});
  std::vector<std::byte> whole(static_cast<std::size_t>(bytes_of(a)));
  pack(tensor, a, whole);
  EXPECT_EQ(join(tensor, a, 1).bytes, whole);
}

}  // namespace
}  // namespace morton
