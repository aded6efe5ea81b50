// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceSum() {
  static const Operator kOperator = reduce_operator<Reduction{}>("ReduceSum");
  return kOperator;
}

}  // namespace morton::ops
