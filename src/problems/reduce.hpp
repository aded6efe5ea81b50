// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Many elements made one, along L.
///
/// reduce: dst[P,M,N] = the map of src[M,L,N], combined over the l of part p, which are from
/// p * DEPTH on below (p + 1) * DEPTH and L. Parameters DEPTH COUNT. Operators have one part; more
/// are the first stage of a long sum. A mean of integers is cut off toward zero.
///
/// sum: dst[M,N] = sum over b of src[B,M,N].
///
/// log_sum_exp: dst[M,N] = log(sum over l of exp(src[M,L,N])).

/// Of reduce.
struct ReduceStructure {
  /// v, |v| or v * v.
  enum class Map : std::uint8_t { none = 0, magnitude = 1, square = 2 };
  enum class Combine : std::uint8_t { sum = 0, product = 1, smallest = 2, largest = 3 };
  /// A mean is divided by COUNT.
  enum class Finish : std::uint8_t { none = 0, mean = 1 };
  Map map = Map::none;             ///< MAP
  Combine combine = Combine::sum;  ///< COMBINE
  Finish finish = Finish::none;    ///< MEAN

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("MAP", self.map);
    field("COMBINE", self.combine);
    field("MEAN", self.finish);
  }
};

}  // namespace morton::problems
