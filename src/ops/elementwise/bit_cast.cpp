// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/small_types.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/elementwise/casting.hpp"

namespace morton::ops {
namespace {

/// The same bits as a number of another type.
Chain bit_cast_chain(const NodeView& node) {
  const DType from = node.input(0).dtype;
  const DType to = type_attribute(node, "to");
  const auto said = [](DType type) {
    const int bits = type == DType::boolean ? 8 : bits_of(type);
    return std::string(name_of(type)) + " (" + std::to_string(bits) + " bits)";
  };
  if (bits_of(from) != bits_of(to)) {
    node.fail("makes " + said(to) + " of " + said(from) + "; both must have as many bits");
  }
  Chain chain;
  if (from != to) chain.append_conversion(ScalarOp::bits, ScalarRef::input(0), to);
  return chain;
}

}  // namespace

const Operator& operator_BitCast() {
  static const Operator kOperator{
      .name = "BitCast",
      .attributes = {"to"},
      .since_opset = 26,
      .chain = bit_cast_chain,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
