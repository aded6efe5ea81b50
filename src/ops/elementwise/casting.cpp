// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/casting.hpp"

#include "base/numbers/onnx_numbers.hpp"
#include "base/numbers/small_types.hpp"
#include "base/rooms.hpp"

namespace morton::ops {

DType type_attribute(const NodeView& node, std::string_view name) {
  constexpr std::int64_t kText = 8;
  constexpr std::int64_t kMostComplex = 15;
  const std::int64_t number = node.integer(name, 0);
  if (const auto type = type_of_onnx(number)) return *type;
  const std::string said = "attribute '" + std::string(name) + "' is " + std::to_string(number);
  if (number == kText) node.unsupported(said + ", the type of texts");
  if (number == kMostComplex - 1 || number == kMostComplex) {
    node.unsupported(said + ", a type of complex numbers");
  }
  node.fail(said + ", which is no element type of ONNX");
}

ScalarOp conversion_of(const NodeView& node, DType target) {
  const bool saturates = node.flag("saturate", 1);
  const std::string mode = node.text("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") {
    node.fail("round_mode is '" + mode + "', expected up, down or nearest");
  }
  if (!is_stored_real(target)) return ScalarOp::cast;
  if (target != DType::f8e8m0 || mode == "up") {
    return saturates ? ScalarOp::cast : ScalarOp::cast_open;
  }
  if (mode == "down") return saturates ? ScalarOp::cast_down : ScalarOp::cast_open_down;
  return saturates ? ScalarOp::cast_nearest : ScalarOp::cast_open_nearest;
}

Chain casting_chain(const NodeView& node, DType target) {
  Chain chain;
  chain.input_count = static_cast<int>(node.input_count());
  const ScalarOp conversion = conversion_of(node, target);
  if (node.input(0).dtype == target) return chain;
  chain.append_conversion(conversion, ScalarRef::input(0), target);
  return chain;
}

}  // namespace morton::ops
