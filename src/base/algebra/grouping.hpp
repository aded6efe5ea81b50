// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton {

/// Dimensions of a tensor that are joined, outermost first. They are within the object: planning
/// makes and copies many.
class JoinedDimensions {
 public:
  JoinedDimensions() = default;
  JoinedDimensions(std::initializer_list<int> dimensions) {
    append({dimensions.begin(), dimensions.end()});
  }

  [[nodiscard]] const int* begin() const { return dimensions_.data(); }
  [[nodiscard]] const int* end() const { return begin() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int front() const { return dimensions_.front(); }
  [[nodiscard]] int operator[](std::size_t index) const { return dimensions_[index]; }

  /// No tensor has more than kMaxRank dimensions.
  void push_back(int dimension) {
    if (size_ == kMaxRank) throw InternalError("grouping: more dimensions than a tensor has");
    dimensions_[size_++] = dimension;
  }
  void append(std::span<const int> dimensions) {
    for (const int dimension : dimensions) push_back(dimension);
  }

  friend bool operator==(const JoinedDimensions& a, const JoinedDimensions& b) {
    return std::ranges::equal(a, b);
  }

 private:
  std::array<int, kMaxRank> dimensions_{};
  std::size_t size_ = 0;
};

/// Which tensor dimensions make up each dimension of an operand, outermost first: {{0}, {2, 3}}
/// reads "the first operand dimension is tensor dimension 0, the second is dimensions 2 and 3
/// joined".
using Grouping = std::vector<JoinedDimensions>;

}  // namespace morton
