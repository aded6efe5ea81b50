// SPDX-License-Identifier: Apache-2.0
#include "base/shape.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"

namespace morton {

std::int64_t element_count(const Shape& shape, const char* what) {
  if (shape.size() > kMaxRank) {
    throw ModelError(std::string(what) + ": " + std::to_string(shape.size()) +
                     " dimensions; at most " + std::to_string(kMaxRank) + " are supported");
  }
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) {
      throw ModelError(std::string(what) + ": negative extent in " + to_string(shape));
    }
    // A zero anywhere makes the tensor empty, yet the other extents must still be sane.
    if (extent == 0) empty = true;
    count = checked_mul(count, std::max<std::int64_t>(extent, 1), what);
    if (count > kMaxElements) {
      throw ModelError(std::string(what) + ": " + to_string(shape) + " has more than " +
                       std::to_string(kMaxElements) + " elements");
    }
  }
  return empty ? 0 : count;
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(shape[i]);
  }
  return text;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = checked_mul(strides[i], shape[i], "strides");
  }
  return strides;
}

Shape broadcast(const Shape& a, const Shape& b, const std::string& what) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.size() >= rank ? a[i + a.size() - rank] : 1;
    const std::int64_t y = i + b.size() >= rank ? b[i + b.size() - rank] : 1;
    if (x != y && x != 1 && y != 1) {
      throw ModelError(what + ": shapes " + to_string(a) + " and " + to_string(b) +
                       " do not broadcast (" + std::to_string(x) + " against " + std::to_string(y) +
                       ")");
    }
    result[i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace morton
