// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction.hpp"

namespace morton {

const Operator& operator_GlobalAveragePool() {
  static const Operator kOperator =
      global_pool_operator<Reduction{.finish = Reduction::Finish::mean}>("GlobalAveragePool");
  return kOperator;
}

}  // namespace morton
