// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceLogSum() {
  static const Operator kOperator =
      reduce_operator<Reduction{.finish = Reduction::Finish::logarithm}>("ReduceLogSum");
  return kOperator;
}

}  // namespace morton
