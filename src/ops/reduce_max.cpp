// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceMax() {
  static const Operator kOperator =
      reduce_operator<Reduction{.combine = Reduction::Combine::largest}>("ReduceMax");
  return kOperator;
}

}  // namespace morton::ops
