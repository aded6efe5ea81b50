// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceSumSquare() {
  static const Operator kOperator =
      reduce_operator<Reduction{.map = Reduction::Map::square}>("ReduceSumSquare");
  return kOperator;
}

}  // namespace morton::ops
