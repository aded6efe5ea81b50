// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "layout/arrangement.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Random layouts and arrangements, small enough to look at every element.
class LayoutSource {
 public:
  explicit LayoutSource(unsigned seed) : engine_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool coin() { return between(0, 1) == 1; }
  std::mt19937& engine() { return engine_; }

  std::int64_t odd_size() {
    constexpr std::int64_t kSizes[] = {1, 2, 3, 5, 7, 11, 17, 63};
    return kSizes[between(0, 7)];
  }

  /// Up to three loops over each dimension, in any order that keeps the whole one outside.
  Layout layout(int rank) {
    std::vector<int> order;
    for (int d = 0; d < rank; ++d) order.insert(order.end(), between(1, 3), d);
    std::shuffle(order.begin(), order.end(), engine_);
    std::vector<char> seen(rank, 0);
    std::vector<Loop> loops;
    for (const int d : order) {
      loops.push_back({d, seen[d] != 0 ? between(1, 4) : 0});
      seen[d] = 1;
    }
    return Layout(rank, loops);
  }

  /// A shape of `rank` dimensions and at most `limit` elements.
  Shape shape(int rank, std::int64_t limit) {
    Shape shape;
    for (int d = 0; d < rank; ++d) {
      std::int64_t extent = odd_size();
      while (extent > limit) extent = extent / 2;
      shape.push_back(extent);
      limit /= extent;
    }
    std::shuffle(shape.begin(), shape.end(), engine_);
    return shape;
  }

  /// The dimensions 0 to rank-1 in random groups.
  Grouping grouping(int rank) {
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (coin()) std::shuffle(order.begin(), order.end(), engine_);
    Grouping grouping;
    for (const int t : order) {
      if (grouping.empty() || coin()) grouping.emplace_back();
      grouping.back().push_back(t);
    }
    return grouping;
  }

  Arrangement arrangement(const Shape& shape, DType dtype = DType::f32) {
    Grouping groups = grouping(static_cast<int>(shape.size()));
    const Layout order = layout(static_cast<int>(groups.size()));
    Shape align;
    for (std::size_t d = 0; d < groups.size(); ++d) align.push_back(coin() ? 1 : between(1, 5));
    Arrangement result =
        make_arrangement(dtype, shape, std::move(groups), order, align, PaddingContents::zero);
    if (!shape.empty() && coin()) {
      const BoundLayout dense(result.layout, result.padded);
      result.pitch = dense.strides().front() + between(0, 5);
    }
    return result;
  }

 private:
  std::mt19937 engine_;
};

/// Steps to the next coordinates in row-major order; false after the last.
inline bool next(Shape& coordinates, const Shape& shape) {
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (++coordinates[d] < shape[d]) return true;
    coordinates[d] = 0;
  }
  return false;
}

}  // namespace morton::test
