// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Products of matrices.
///
/// gemm: dst[M,N] = sum over k of lhs[M,K] * rhs[K,N].
///
/// batched_gemm: the same for each b: dst[B,M,N] = sum over k of lhs[B,M,K] * rhs[B,K,N]. Its
/// kernels are those of gemm (catalogue/batched.hpp).
///
/// filter_gemm: the same with one lhs[M,K] for all b.
///
/// integer_gemm: dst[M,N] = sum over k of (lhs[M,K] - ZL) * (rhs[K,N] - ZR) in 32-bit integers, for
/// 8-bit operands. Its epilogue's input 0 is the sum, i32.

/// What is taken off the operands of integer_gemm: the numbers that stand for zero.
struct IntegerGemmStructure {
  std::int64_t zero_lhs = 0;  ///< ZL
  std::int64_t zero_rhs = 0;  ///< ZR

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("ZL", self.zero_lhs);
    field("ZR", self.zero_rhs);
  }
};

}  // namespace morton::problems
