// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

struct TypeNumber {
  std::int64_t number;
  DType type;
};

/// ONNX's numbers of the element types (TensorProto.DataType).
constexpr std::array<TypeNumber, 13> kNumbers{{
    {1, DType::f32},
    {2, DType::u8},
    {3, DType::i8},
    {4, DType::u16},
    {5, DType::i16},
    {6, DType::i32},
    {7, DType::i64},
    {9, DType::boolean},
    {10, DType::f16},
    {11, DType::f64},
    {12, DType::u32},
    {13, DType::u64},
    {16, DType::bf16},
}};

DType target_of(const NodeView& node) {
  const std::int64_t number = node.integer("to", 0);
  const auto found = std::find_if(kNumbers.begin(), kNumbers.end(),
                                  [&](const TypeNumber& known) { return known.number == number; });
  if (found == kNumbers.end()) {
    node.unsupported("attribute 'to' is " + std::to_string(number) +
                     ", which is no element type of numbers or bool");
  }
  return found->type;
}

/// ONNX's rules: reals become integers towards zero, integers of fewer bits keep the lowest, what
/// is not 0 is true.
Chain cast_chain(const NodeView& node) {
  Chain chain;
  const DType target = target_of(node);
  if (node.input(0).dtype == target) return chain;
  chain.append_conversion(ScalarOp::cast, ScalarRef::input(0), target);
  return chain;
}

}  // namespace

const Operator& operator_Cast() {
  static const Operator kOperator{
      .name = "Cast",
      .attributes = {"to"},
      .since_opset = 6,
      .chain = cast_chain,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
