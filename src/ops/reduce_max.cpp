// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceMax() {
  static const Operator kOperator =
      reduce_operator<Reduction{.combine = Reduction::Combine::largest}>("ReduceMax");
  return kOperator;
}

}  // namespace morton
