// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::passes {

/// A constant of f32 as halves.
struct HalfConstant {
  Tensor data;
  std::int64_t beyond = 0;  ///< finite values that became the largest one
  bool is_lifted = false;   ///< a single number that would have become zero
};

/// `type` is f16 or bf16. Rounds to nearest, ties to even; infinities and NaN stay.
[[nodiscard]] HalfConstant half_constant(const Tensor& data, DType type);

}  // namespace morton::passes
