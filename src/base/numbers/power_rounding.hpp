// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace morton {

/// What becomes of a number beyond the largest of a stored real type: that one, or infinity, or a
/// NaN where there is no infinity.
enum class OutOfRange : std::uint8_t { saturates, stays };

/// How a number becomes a power of two; what is as near to two of them goes up.
enum class PowerRounding : std::uint8_t { up, down, nearest };

}  // namespace morton
