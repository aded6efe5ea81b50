// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// local_response: dst[N,C,S] = src / (b + a / SIZE * sum of the squares of src over the channels
/// c - (SIZE - 1) / 2 to c + SIZE / 2 that exist) ^ p.
struct LocalResponseStructure {
  std::int64_t size = 1;  ///< SIZE
  float alpha = 0.0F;     ///< ALPHA: a, as bits
  float beta = 0.0F;      ///< BETA: p, as bits
  float bias = 0.0F;      ///< BIAS: b, as bits

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("SIZE", self.size);
    field("ALPHA", self.alpha);
    field("BETA", self.beta);
    field("BIAS", self.bias);
  }
};

}  // namespace morton::problems
