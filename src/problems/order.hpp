// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Elements along L by their order.
///
/// arg_max: dst[M,N] = the l of the largest src[M,L,N], or of the smallest.
///
/// top_k: dst[M,K,N] = the K largest src[M,L,N] along l, in their order, the first of equals first;
/// or the K smallest; or their l.

/// Which elements come first.
enum class FirstInOrder : std::uint8_t { largest = 0, smallest = 1 };

/// Of arg_max.
struct ArgMaxStructure {
  enum class Equals : std::uint8_t { first = 0, last = 1 };
  FirstInOrder first = FirstInOrder::largest;  ///< SMALLEST
  Equals equals = Equals::first;               ///< LAST: which of equals is taken

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("SMALLEST", self.first);
    field("LAST", self.equals);
  }
};

/// Of top_k.
struct TopKStructure {
  enum class Result : std::uint8_t { values = 0, indices = 1 };
  FirstInOrder first = FirstInOrder::largest;  ///< SMALLEST
  Result result = Result::values;              ///< INDICES

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("SMALLEST", self.first);
    field("INDICES", self.result);
  }
};

}  // namespace morton::problems
