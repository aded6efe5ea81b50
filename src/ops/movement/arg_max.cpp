// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/arg_extreme.hpp"

namespace morton::ops {

const Operator& operator_ArgMax() {
  static const Operator kOperator = arg_operator<Extreme::largest>("ArgMax");
  return kOperator;
}

}  // namespace morton::ops
