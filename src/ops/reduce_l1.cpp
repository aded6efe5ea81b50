// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceL1() {
  static const Operator kOperator =
      reduce_operator<Reduction{.map = Reduction::Map::magnitude}>("ReduceL1");
  return kOperator;
}

}  // namespace morton::ops
