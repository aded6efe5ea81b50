// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Shares of a whole, along L.
///
/// softmax: dst[M,L,N] = exp(src[M,L,N] - max over l) / sum over l of the same, or the logarithm of
/// that.
///
/// hardmax: dst[M,L,N] = 1 where l is the first of the largest src[M,L,N] along l, else 0.

/// Of softmax.
struct SoftmaxStructure {
  enum class Result : std::uint8_t { share = 0, logarithm = 1 } result = Result::share;  ///< LOG

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("LOG", self.result);
  }
};

}  // namespace morton::problems
