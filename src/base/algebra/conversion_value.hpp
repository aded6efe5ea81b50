// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/algebra/chain.hpp"

namespace morton {

/// A whole number as bits, modulo 2^64; what no 64-bit integer holds is saturated, a NaN is 0.
[[nodiscard]] std::uint64_t to_bits(double value);
/// The lowest bits as a number of the integer type.
[[nodiscard]] double from_bits(DType type, std::uint64_t bits);

/// What the conversion `op` makes of `a`, a number of the type `from`.
[[nodiscard]] double converted(ScalarOp op, DType from, DType to, double a);

}  // namespace morton
