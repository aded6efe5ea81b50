// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace morton {

/// 2^53: a double holds every whole number up to this, and beyond it not every one.
inline constexpr double kExactIntegers = 9007199254740992.0;

}  // namespace morton
