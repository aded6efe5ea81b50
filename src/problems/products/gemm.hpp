// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "problems/family.hpp"

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
/// integer_gemm: as gemm, of 8-bit operands, in 32-bit integers. Its epilogue's input 0 is the sum,
/// i32. Zero points are the epilogue's (ops/math/integer_product.hpp).
///
/// batched_integer_gemm: the same for each b.

/// The family of many products of `family`, whose kernels it shares: batched_gemm for gemm. Nothing
/// for a family that has none.
[[nodiscard]] std::optional<Family> batch_of_products(Family family);
/// The reverse: gemm for batched_gemm.
[[nodiscard]] MORTON_FOR_TOOLS std::optional<Family> one_of_products(Family family);

}  // namespace morton::problems
