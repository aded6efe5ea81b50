// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceL2() {
  static const Operator kOperator = reduce_operator<Reduction{
      .map = Reduction::Map::square, .finish = Reduction::Finish::square_root}>("ReduceL2");
  return kOperator;
}

}  // namespace morton::ops
