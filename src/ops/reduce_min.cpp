// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceMin() {
  static const Operator kOperator =
      reduce_operator<Reduction{.combine = Reduction::Combine::smallest}>("ReduceMin");
  return kOperator;
}

}  // namespace morton
