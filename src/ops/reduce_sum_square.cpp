// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceSumSquare() {
  static const Operator kOperator =
      reduce_operator<Reduction{.map = Reduction::Map::square}>("ReduceSumSquare");
  return kOperator;
}

}  // namespace morton
