// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// scatter: dst[O,D,I] = src[O,D,I], changed by update[O,M,I]: for each m, in order, the element of
/// dst at d becomes, or is combined with, update[o,m,i]. d is index[o,m,0,i] for L = 1, else
/// index[o,m,0,i] to index[o,m,L-1,i] in mixed radix. Its parameters I0 to I3 are the extents that
/// they index, D their product. A negative index counts from the end. One that lies outside changes
/// nothing.
struct ScatterStructure {
  enum class Reduction : std::uint8_t { none = 0, add = 1, mul = 2, largest = 3, smallest = 4 };
  enum class Indices : std::uint8_t { each = 0, shared = 1 };
  std::int64_t indices = 1;               ///< L
  Reduction reduction = Reduction::none;  ///< REDUCTION
  Indices along = Indices::each;          ///< SHARED: index does not depend on i

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("L", self.indices);
    field("REDUCTION", self.reduction);
    field("SHARED", self.along);
  }
};

}  // namespace morton::problems
