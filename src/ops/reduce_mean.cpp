// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_ReduceMean() {
  static const Operator kOperator =
      reduce_operator<Reduction{.finish = Reduction::Finish::mean}>("ReduceMean");
  return kOperator;
}

}  // namespace morton
