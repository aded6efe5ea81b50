// SPDX-License-Identifier: Apache-2.0
#include "ops/arg_extreme.hpp"

namespace morton {

const Operator& operator_ArgMax() {
  static const Operator kOperator = arg_operator<Extreme::largest>("ArgMax");
  return kOperator;
}

}  // namespace morton
