// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_GlobalAveragePool() {
  static const Operator kOperator =
      global_pool_operator<Reduction{.finish = Reduction::Finish::mean}>("GlobalAveragePool");
  return kOperator;
}

}  // namespace morton::ops
