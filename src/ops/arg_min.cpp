// SPDX-License-Identifier: Apache-2.0
#include "ops/arg_extreme.hpp"

namespace morton {

const Operator& operator_ArgMin() {
  static const Operator kOperator = arg_operator<Extreme::smallest>("ArgMin");
  return kOperator;
}

}  // namespace morton
