// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceMin() {
  static const Operator kOperator =
      reduce_operator<Reduction{.combine = Reduction::Combine::smallest}>("ReduceMin");
  return kOperator;
}

}  // namespace morton::ops
