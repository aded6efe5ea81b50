// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Elements that are moved, of any rank, dimensions D0 D1 ...
///
/// pack: dst = src in another arrangement.
///
/// gather: dst = src at coordinates of which some are what `index` holds. The view of index has the
/// further dimension L, that of src the further dimension I: i is index[.., 0] for L = 1, else
/// index[.., 0] to index[.., L-1] in mixed radix. Its parameters I0 to I3 are the extents that they
/// index. A negative index counts from the end, and dst is 0 where one lies outside.

/// Of gather.
struct GatherStructure {
  std::int64_t indices = 1;  ///< L

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("L", self.indices);
  }
};

}  // namespace morton::problems
