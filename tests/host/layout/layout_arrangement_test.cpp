// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/layout_random.hpp"
#include "layout/arrangement.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::LayoutSource;
using test::next;
using ::testing::HasSubstr;

const std::vector<std::string> kMatrixDims{"M", "K"};

Arrangement matrix(const Shape& shape, Grouping grouping, const char* layout, const Shape& align) {
  return make_arrangement(DType::f32, shape, std::move(grouping),
                          Layout::parse(layout, kMatrixDims), align, PaddingContents::zero);
}

TEST(Arrangement, PadsToTheAlignmentAndTheTile) {
  const Arrangement a = matrix({3, 17}, {{0}, {1}}, "R_2_4_R", {3, 6});
  EXPECT_EQ(operand_extents(a), (Shape{3, 17}));
  EXPECT_EQ(a.padded, (Shape{6, 24}));
  EXPECT_EQ(elements_of(a), 144);
  EXPECT_EQ(bytes_of(a), 576);
  EXPECT_EQ(offset_of(a, Shape{2, 5}), 24 * 2 + 8 + 1);
  EXPECT_EQ(print(a, kMatrixDims), "f32 R_2_4_R [M=3->6 K=17->24] padding zero");
}

TEST(Arrangement, JoinsTensorDimensions) {
  // K = C*KH*KW over rows, M = O over columns: the transposed weights of im2col.
  const Arrangement a = matrix({5, 3, 2, 2}, {{1, 2, 3}, {0}}, "R", {1, 8});
  EXPECT_EQ(a.padded, (Shape{12, 8}));
  EXPECT_EQ(offset_of(a, Shape{4, 2, 1, 0}), (2 * 4 + 1 * 2 + 0) * 8 + 4);
}

TEST(Arrangement, PrintsWhatDiffersFromTheUsual) {
  Arrangement a = row_major_arrangement(DType::f16, {2, 3, 5});
  EXPECT_EQ(print(a), "f16 ABC [A=2->2 B=3->3 C=5->5] padding zero");
  a.pitch = 16;
  a.padding = PaddingContents::undefined;
  a.memory = MemoryKind::image;
  a.image_rows = 1;
  a.image_texels = 1;
  EXPECT_EQ(print(a), "f16 ABC [A=2->2 B=3->3 C=5->5] pitch 16 image y:1 x:1 padding undefined");
  EXPECT_EQ(elements_of(row_major_arrangement(DType::f32, {})), 1);
}

TEST(Arrangement, PaddingContentsHaveNames) {
  for (const PaddingContents padding :
       {PaddingContents::undefined, PaddingContents::finite, PaddingContents::zero}) {
    EXPECT_EQ(parse_padding_contents(name_of(padding), "here"), padding);
  }
  try {
    static_cast<void>(parse_padding_contents("one", "gemm.json: padding"));
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("gemm.json: padding"));
    EXPECT_THAT(error.what(), HasSubstr("'one'"));
  }
}

TEST(Arrangement, RefusesWhatDoesNotFit) {
  EXPECT_THROW(matrix({3, 4}, {{0}, {0, 1}}, "R", {1, 1}), ModelError);
  EXPECT_THROW(matrix({3, 4}, {{0}, {}}, "R", {1, 1}), ModelError);
  EXPECT_THROW(matrix({3, 4}, {{0}, {2}}, "R", {1, 1}), ModelError);
  EXPECT_THROW(matrix({3, 4}, {{0, 1}}, "R", {1, 1}), ModelError);
  EXPECT_THROW(matrix({3, 4}, {{0}, {1}}, "R", {1}), ModelError);
  EXPECT_THROW(matrix({3, 4}, {{0}, {1}}, "R", {1, 0}), ModelError);
  EXPECT_THROW(matrix({3, -4}, {{0}, {1}}, "R", {1, 1}), ModelError);
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  EXPECT_THROW(matrix({kBig, kBig}, {{0}, {1}}, "R", {1, 1}), ModelError);
  EXPECT_THROW(matrix({kBig, kBig}, {{0, 1}, {}}, "R", {1, 1}), ModelError);
  EXPECT_THROW(matrix({3, 4}, {{0}, {1}}, "R", {std::int64_t{1} << 62, 4}), ModelError);
  Arrangement a = matrix({3, 4}, {{0}, {1}}, "R", {1, 1});
  a.padded = {3, 3};
  EXPECT_THROW(validate(a), ModelError);
  EXPECT_THROW(static_cast<void>(same_memory(a, a)), ModelError);
}

/// What same_memory promises, element by element.
bool same_offsets(const Arrangement& a, const Arrangement& b) {
  if (elements_of(a) != elements_of(b)) return false;
  Shape at(a.tensor_shape.size(), 0);
  do {
    if (offset_of(a, at) != offset_of(b, at)) return false;
  } while (next(at, a.tensor_shape));
  return true;
}

TEST(SameMemory, AgreesWithEveryOffset) {
  int same = 0;
  int different_grouping = 0;
  int other = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LayoutSource source(seed);
    Shape shape;
    const std::int64_t rank = source.between(1, 4);
    for (std::int64_t d = 0; d < rank; ++d) shape.push_back(source.between(1, 4));
    std::vector<Arrangement> candidates;
    for (int i = 0; i < 30; ++i) candidates.push_back(source.arrangement(shape));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const bool expected = same_offsets(candidates[i], candidates[k]);
        ASSERT_EQ(same_memory(candidates[i], candidates[k]), expected)
            << to_string(shape) << ": " << print(candidates[i]) << " and " << print(candidates[k]);
        ++(expected ? same : other);
        if (expected && candidates[i].grouping != candidates[k].grouping) ++different_grouping;
      }
    }
  }
  // The samples must try both answers, and the hard half of one of them.
  EXPECT_GT(same, 1000);
  EXPECT_GT(different_grouping, 500);
  EXPECT_GT(other, 1000);
}

TEST(SameMemory, SeesThroughGroupsAndTiles) {
  const Shape weights{8, 4, 3, 3};
  const Arrangement own = row_major_arrangement(DType::f32, weights);
  EXPECT_TRUE(same_memory(own, matrix(weights, {{0}, {1, 2, 3}}, "R", {1, 1})));
  EXPECT_TRUE(same_memory(own, matrix(weights, {{1, 2, 3}, {0}}, "C", {1, 1})));
  EXPECT_FALSE(same_memory(own, matrix(weights, {{0}, {2, 3, 1}}, "R", {1, 1})));
  EXPECT_FALSE(same_memory(own, matrix(weights, {{0}, {1, 2, 3}}, "R", {1, 8})));
  // Panels of 9 columns are the groups of one input channel.
  EXPECT_TRUE(
      same_memory(matrix(weights, {{0}, {1, 2, 3}}, "R_*_9_R", {1, 1}),
                  make_arrangement(DType::f32, weights, {{1}, {0}, {2}, {3}}, Layout::row_major(4),
                                   {1, 1, 1, 1}, PaddingContents::zero)));
  Arrangement half = own;
  half.dtype = DType::f16;
  EXPECT_FALSE(same_memory(own, half));
  Arrangement image = own;
  image.memory = MemoryKind::image;
  EXPECT_FALSE(same_memory(own, image));
}

TEST(SameMemory, ImagesMustBeEquallyWide) {
  Arrangement a = row_major_arrangement(DType::f32, {6, 5, 4});
  a.memory = MemoryKind::image;
  a.image_rows = 1;
  a.image_texels = 1;
  Arrangement b = a;
  EXPECT_TRUE(same_memory(a, b));
  b.image_rows = 0;
  b.image_texels = 2;
  EXPECT_FALSE(same_memory(a, b));
}

TEST(Satisfies, NeedsAPaddingOnlyWherePaddingIs) {
  Arrangement demanded = matrix({3, 4}, {{0}, {1}}, "R", {1, 8});
  Arrangement stored = demanded;
  stored.padding = PaddingContents::finite;
  EXPECT_FALSE(satisfies(stored, demanded));
  demanded.padding = PaddingContents::finite;
  EXPECT_TRUE(satisfies(stored, demanded));
  stored.padding = PaddingContents::undefined;
  EXPECT_FALSE(satisfies(stored, demanded));
  demanded.padding = PaddingContents::undefined;
  EXPECT_TRUE(satisfies(stored, demanded));

  Arrangement exact = matrix({3, 4}, {{0}, {1}}, "R", {1, 4});
  Arrangement unknown = exact;
  unknown.padding = PaddingContents::undefined;
  EXPECT_TRUE(satisfies(unknown, exact));
  EXPECT_FALSE(satisfies(exact, demanded));
}

TEST(Satisfies, AGapIsNoPadding) {
  // One row of 3, 12 elements in both: of the columns that the demanded pads, four are in the
  // stored value between its row and its padding row.
  const Arrangement demanded = matrix({1, 3}, {{0}, {1}}, "R", {1, 12});
  Arrangement stored = matrix({1, 3}, {{0}, {1}}, "R", {2, 4});
  stored.pitch = 8;
  ASSERT_TRUE(same_memory(stored, demanded));
  EXPECT_FALSE(satisfies(stored, demanded));
  EXPECT_TRUE(satisfies(stored, stored));
  EXPECT_TRUE(satisfies(demanded, demanded));
}

}  // namespace
}  // namespace morton::test
