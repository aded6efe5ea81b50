// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceLogSum() {
  static const Operator kOperator =
      reduce_operator<Reduction{.finish = Reduction::Finish::logarithm}>("ReduceLogSum");
  return kOperator;
}

}  // namespace morton::ops
