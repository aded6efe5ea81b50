// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// coded_gemm: dst[M,N] = sum over k of lhs[M,K] * w[k,N], where w is written in codes of 2, 4 or 8
/// bits:
///
///   w[k,n] = (code[k,n] - zeros[k / BLOCK, n]) * scales[k / BLOCK, n]
///   codes[P,N]   byte p holds the codes of k = p * (8 / BITS) and of those behind it, the first in
///                its lowest bits; P = ceil(K * BITS / 8)
///   scales[G,N], zeros[G,N]   a number for each block of BLOCK rows, G = ceil(K / BLOCK)
///
/// A block has whole bytes, but for one that has all rows.
struct CodedGemmStructure {
  std::int64_t bits = 4;   ///< BITS
  std::int64_t block = 1;  ///< BLOCK

  /// Codes of a byte.
  [[nodiscard]] std::int64_t codes() const { return 8 / bits; }

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("BITS", self.bits);
    field("BLOCK", self.block);
  }
};

}  // namespace morton::problems
