// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"

namespace morton::ops {

const Operator& operator_GlobalMaxPool() {
  static const Operator kOperator =
      global_pool_operator<Reduction{.combine = Reduction::Combine::largest}>("GlobalMaxPool");
  return kOperator;
}

}  // namespace morton::ops
