// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::ops {

/// What one constant may take that an operator writes beside a model's own: a tensor may state
/// extents that no memory holds.
inline constexpr std::int64_t kMostMadeBytes = std::int64_t{256} << 20;

/// Throws UnsupportedError, with `where` before it, unless a constant of that type and shape may be
/// made.
void require_made(DType type, const Shape& shape, const std::string& where);

/// Zeros for such a constant; throws as `require_made` does.
[[nodiscard]] Tensor made_constant(DType type, const Shape& shape, const std::string& where);

}  // namespace morton::ops
