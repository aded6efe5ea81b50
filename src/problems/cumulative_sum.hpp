// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// cumulative_sum: dst[M,L,N] = sum over all j <= l of src[M,J,N].
struct CumulativeSumStructure {
  /// EXCLUSIVE: with `excluded` j < l.
  enum class Own : std::uint8_t { included = 0, excluded = 1 } own = Own::included;
  /// REVERSE: from the `back` j >= l, or j > l.
  enum class From : std::uint8_t { front = 0, back = 1 } from = From::front;

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("EXCLUSIVE", self.own);
    field("REVERSE", self.from);
  }
};

}  // namespace morton::problems
