// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "base/algebra/view.hpp"
#include "base/numbers/checked.hpp"
#include "host/layout_random.hpp"
#include "layout/layout.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::LayoutSource;
using test::next;

std::vector<std::string> names_of(int rank) {
  std::vector<std::string> names;
  for (int d = 0; d < rank; ++d) names.emplace_back(1, static_cast<char>('A' + d));
  return names;
}

/// A layout with sizes, and the same as expressions.
struct Sample {
  Layout layout = Layout::row_major(0);
  Shape padded;
  std::int64_t pitch = 0;
  Environment extents;
  std::vector<Expression> coordinates;
  std::vector<Expression> padded_names;
};

Sample sample(LayoutSource& source) {
  Sample result;
  const int rank = static_cast<int>(source.between(1, 4));
  result.layout = source.layout(rank);
  const Shape base = source.shape(rank, 200);
  for (int d = 0; d < rank; ++d) {
    result.padded.push_back(base[d] % 4 == 0 ? base[d] * result.layout.tile(d)
                                             : round_up(base[d], result.layout.tile(d)));
    const std::string name = names_of(rank)[d];
    result.coordinates.push_back(Expression::variable(coordinate_name(name)));
    result.padded_names.push_back(Expression::variable(name + "_pad"));
    result.extents[name + "_pad"] = result.padded[d];
  }
  if (source.coin()) {
    result.pitch = BoundLayout(result.layout, result.padded).strides()[0] + source.between(0, 5);
  }
  result.extents["pitch"] = result.pitch;
  return result;
}

TEST(LayoutProperties, OffsetsAreOneToOneAndInvert) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LayoutSource source(seed);
    const Sample s = sample(source);
    const BoundLayout bound(s.layout, s.padded, s.pitch);
    std::set<std::int64_t> seen;
    Shape at(s.padded.size(), 0);
    do {
      const std::int64_t offset = bound.offset(at);
      ASSERT_GE(offset, 0);
      ASSERT_LT(offset, bound.size());
      ASSERT_TRUE(seen.insert(offset).second) << "offset " << offset << " twice";
      ASSERT_EQ(bound.coordinates(offset), at);
    } while (next(at, s.padded));
    EXPECT_EQ(*seen.rbegin() + 1, bound.size());
    EXPECT_TRUE(s.pitch != 0 || static_cast<std::int64_t>(seen.size()) == bound.size());
  }
}

TEST(LayoutProperties, ExpressionsAgreeWithNumbers) {
  for (unsigned seed = 1000; seed < 1100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LayoutSource source(seed);
    Sample s = sample(source);
    const Expression pitch = Expression::variable("pitch");
    const Expression* given = s.pitch != 0 ? &pitch : nullptr;
    const Expression offset = offset_expression(s.layout, s.coordinates, s.padded_names, given);
    const auto inverse =
        coordinate_expressions(s.layout, Expression::variable("i"), s.padded_names);
    const BoundLayout bound(s.layout, s.padded, s.pitch);
    const BoundLayout dense(s.layout, s.padded);
    Shape at(s.padded.size(), 0);
    do {
      for (std::size_t d = 0; d < at.size(); ++d) s.extents[s.coordinates[d].print()] = at[d];
      ASSERT_EQ(offset.evaluate(s.extents), bound.offset(at)) << offset.print();
      s.extents["i"] = dense.offset(at);
      for (std::size_t d = 0; d < at.size(); ++d) {
        ASSERT_EQ(inverse[d].evaluate(s.extents), at[d]) << inverse[d].print();
      }
    } while (next(at, s.padded));
  }
}

TEST(LayoutProperties, EveryLayoutReadsBack) {
  for (unsigned seed = 2000; seed < 2500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LayoutSource source(seed);
    const int rank = static_cast<int>(source.between(1, 4));
    const Layout layout = source.layout(rank);
    const std::string text = layout.print(names_of(rank));
    EXPECT_EQ(Layout::parse(text, names_of(rank)), layout) << text;
  }
}

}  // namespace
}  // namespace morton::test
