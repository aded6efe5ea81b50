// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_ReduceMean() {
  static const Operator kOperator =
      reduce_operator<Reduction{.finish = Reduction::Finish::mean}>("ReduceMean");
  return kOperator;
}

}  // namespace morton::ops
