// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "base/rooms.hpp"
#include "problems/order.hpp"

namespace morton::ops {

/// Whether `a` is beyond `b` in the order whose end is sought; a NaN is beyond every number.
[[nodiscard]] inline bool is_beyond(double a, double b, FirstInOrder extreme) {
  if (std::isnan(b)) return false;
  if (std::isnan(a)) return true;
  return extreme == FirstInOrder::smallest ? a < b : a > b;
}

}  // namespace morton::ops
