// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceProd() {
  static const Operator kOperator =
      reduce_operator<Reduction{.combine = Reduction::Combine::product}>("ReduceProd");
  return kOperator;
}

}  // namespace morton::ops
