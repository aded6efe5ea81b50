// SPDX-License-Identifier: Apache-2.0
#include "source/rounded_byte.hpp"

#include <cmath>

namespace morton::source {

RoundedByte rounded_byte_of(const TypedChain& chain, const ScalarRef& argument) {
  RoundedByte found{argument};
  const auto step_of = [&](const ScalarRef& ref, ScalarOp op) -> const ScalarStep* {
    if (ref.kind != ScalarRef::Kind::step) return nullptr;
    const ScalarStep& step = chain.chain().steps[ref.place()];
    return step.op == op ? &step : nullptr;
  };
  ScalarRef inner = argument;
  if (const ScalarStep* sum = step_of(argument, ScalarOp::add)) {
    const ScalarRef& second = sum->arguments[1];
    const bool is_code = second.kind == ScalarRef::Kind::constant &&
                         std::abs(second.value) <= 255.0 &&
                         second.value == std::floor(second.value);
    if (!is_code) return found;
    inner = sum->arguments[0];
    if (step_of(inner, ScalarOp::round) == nullptr) return found;
    found.offset = static_cast<int>(second.value);
  }
  if (const ScalarStep* round = step_of(inner, ScalarOp::round)) found.value = round->arguments[0];
  return found;
}

bool makes_byte(ScalarOp op, DType from, DType to) {
  return op == ScalarOp::saturate && register_type(from) == DType::f32 &&
         (to == DType::u8 || to == DType::i8);
}

/// The number is kept within the type's range before it is rounded, so that the lowest bits of
/// 1.5 * 2^23 and it are the nearest whole number, the even one of two. A compiler makes vectors of
/// that; of PoCL's conversion it makes none.
std::string byte_function(const std::string& name, DType to) {
  const bool is_unsigned = to == DType::u8;
  const std::string type = is_unsigned ? "uchar" : "char";
  const std::string least = is_unsigned ? "0" : "-128";
  const std::string most = is_unsigned ? "255" : "127";
  const std::string none =
      is_unsigned ? "" : "  value = value == value ? value : (float)-offset;\n";
  return type + " " + name + "(float value, int offset) {\n" + none +
         "  const float least = (float)(" + least + " - offset);\n" +
         "  const float most = (float)(" + most + " - offset);\n" +
         "  const float raised = value > least ? value : least;\n" +
         "  const float kept = raised < most ? raised : most;\n" + "  return (" + type +
         ")(as_int(kept + 12582912.0f) + offset);\n}\n";
}

}  // namespace morton::source
