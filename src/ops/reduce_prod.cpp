// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceProd() {
  static const Operator kOperator =
      reduce_operator<Reduction{.combine = Reduction::Combine::product}>("ReduceProd");
  return kOperator;
}

}  // namespace morton
