// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// resize2d: dst[C,OH,OW] = weighted sum of src[C,H,W] around row p and column q. Parameters HN HA
/// HD WN WA WD: p = (HN * oh + HA) / HD and q = (WN * ow + WA) / WD, exact fractions.
///
/// With TAPS 2 it interpolates between the rows floor(p) and floor(p) + 1. With TAPS 4 it weights
/// the rows floor(p) - 1 to floor(p) + 2 by the cubic of R. Keys ("Cubic convolution interpolation
/// for digital image processing", 1981). So it does with the columns.
struct Resize2dStructure {
  enum class Taps : std::uint8_t { linear = 2, cubic = 4 };
  Taps taps = Taps::linear;  ///< TAPS
  /// EXCLUDE. A row outside of the image is the one at its border, or is left out; then the weights
  /// of the others are divided by what is left of their sum.
  enum class Outside : std::uint8_t { border = 0, excluded = 1 } outside = Outside::border;
  float cubic = 0.0F;  ///< CUBIC: the cubic's coefficient, as bits

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("TAPS", self.taps);
    field("EXCLUDE", self.outside);
    field("CUBIC", self.cubic);
  }
};

}  // namespace morton::problems
