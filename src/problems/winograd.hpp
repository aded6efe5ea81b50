// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// The transforms of Winograd's minimal filtering F(OUT x OUT, 3x3) (A. Lavin and S. Gray, "Fast
/// Algorithms for Convolutional Neural Networks", 2015): T tiles of OUT x OUT results, each from a
/// patch of (OUT+2) x (OUT+2) elements, X = (OUT+2)^2 products; G, B and A are constants that OUT
/// gives. Parameters T0 TH TW: tile t is number t + T0 of all, (n * TH + row of tiles) * TW +
/// column.
///
/// winograd_weights: dst[X,O,C] = (G w G') of the filter w = src[O,C,U,V].
///
/// winograd_input: dst[X,C,T] = (B' d B), d a patch of src[N,C,H,W].
///
/// winograd_output: dst[N,O,OH,OW] = (A' m A) of m = src[X,O,T], for the elements of these tiles.

/// Of winograd_weights and winograd_output.
struct WinogradStructure {
  std::int64_t out = 2;  ///< OUT, 2 or 4

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("OUT", self.out);
  }
};

/// Of winograd_input.
struct WinogradInputStructure {
  std::int64_t out = 2;   ///< OUT, 2 or 4
  std::int64_t top = 0;   ///< PT, padding above
  std::int64_t left = 0;  ///< PL, padding to the left

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("OUT", self.out);
    field("PT", self.top);
    field("PL", self.left);
  }
};

}  // namespace morton::problems
