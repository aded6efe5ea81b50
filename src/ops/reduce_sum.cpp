// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceSum() {
  static const Operator kOperator = reduce_operator<Reduction{}>("ReduceSum");
  return kOperator;
}

}  // namespace morton
