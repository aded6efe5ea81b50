// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/elementwise/casting.hpp"

namespace morton::ops {
namespace {

Chain cast_chain(const NodeView& node) { return casting_chain(node, type_attribute(node, "to")); }

}  // namespace

const Operator& operator_Cast() {
  static const Operator kOperator{
      .name = "Cast",
      .attributes = {"to", "saturate", "round_mode"},
      .since_opset = 6,
      .chain = cast_chain,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
