// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Numbers brought to a common size, along L.
///
/// normalize: dst[M,L,N] = src[M,L,N] in other units, all along l.
///
/// inverse_deviation: dst[M,N] = 1 / sqrt(variance over l of src[M,L,N] + e).

/// Of normalize.
struct NormalizeStructure {
  /// KIND. deviation: (v - mean) / sqrt(variance + e); magnitudes: v / sum of |v|; squares:
  /// v / sqrt(sum of v * v).
  enum class Kind : std::uint8_t { deviation = 0, magnitudes = 1, squares = 2 };
  Kind kind = Kind::deviation;
  float epsilon = 0.0F;  ///< EPSILON: e, as bits

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("KIND", self.kind);
    field("EPSILON", self.epsilon);
  }
};

/// Of inverse_deviation.
struct InverseDeviationStructure {
  float epsilon = 0.0F;  ///< EPSILON: e, as bits

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("EPSILON", self.epsilon);
  }
};

}  // namespace morton::problems
