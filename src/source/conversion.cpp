// SPDX-License-Identifier: Apache-2.0
#include "source/conversion.hpp"

#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/small_types.hpp"
#include "morton/error.hpp"
#include "source/element.hpp"
#include "source/stored_real.hpp"

namespace morton::source {
namespace {

std::string value_name(DType type) { return std::string(value_type(type)); }

/// Through a half in memory, as no device need compute with halves.
std::string rounding_functions(DType type) {
  const std::string n(name_of(type));
  std::string text = "float morton_as_" + n + "(float value) {\n";
  if (type == DType::f16) {
    text += "  ushort stored;\n  vstore_half_rte(value, 0, (half*)&stored);\n";
    text += "  return vload_half(0, (const half*)&stored);\n}\n";
  } else if (type == DType::bf16) {
    text += "  return as_float((uint)morton_to_bf16(value) << 16);\n}\n";
  } else {
    text += "  return morton_to_tf32(value);\n}\n";
  }
  return element_functions(type) + once_in_a_program("MORTON_AS_" + n, text);
}

/// The value of a stored real as a float.
ConversionText decoded(DType from, const std::string& value) {
  const std::string name = "morton_from_" + std::string(name_of(from));
  const std::string macro = "MORTON_FROM_" + std::string(name_of(from));
  return {once_in_a_program(macro, from_stored_real_text(from, name)), name + "(" + value + ")"};
}

ConversionText encoded(ScalarOp op, DType to, const std::string& value) {
  const bool is_open = op == ScalarOp::cast_open || op == ScalarOp::cast_open_down ||
                       op == ScalarOp::cast_open_nearest;
  const bool down = op == ScalarOp::cast_down || op == ScalarOp::cast_open_down;
  const bool nearest = op == ScalarOp::cast_nearest || op == ScalarOp::cast_open_nearest;
  const OutOfRange out = is_open ? OutOfRange::stays : OutOfRange::saturates;
  const PowerRounding rounding = down      ? PowerRounding::down
                                 : nearest ? PowerRounding::nearest
                                           : PowerRounding::up;
  const std::string tail = std::string(facts_of(op).name) + "_" + std::string(name_of(to));
  const std::string name = "morton_" + tail;
  return {once_in_a_program("MORTON_" + tail, to_stored_real_text(to, name, out, rounding)),
          name + "((float)" + value + ")"};
}

/// The lowest bits of an integer as a number of a few bits.
std::string lowest_bits(DType to, const std::string& value) {
  const int bits = bits_of(to);
  const std::string low = "((int)" + value + " & " + std::to_string((1 << bits) - 1) + ")";
  if (to == DType::u4 || to == DType::u2) return "(uchar)" + low;
  const std::string sign = std::to_string(1 << (bits - 1));
  return "(char)((" + low + " ^ " + sign + ") - " + sign + ")";
}

/// The number that stays within the type's range.
std::string limited(DType to, const std::string& value) {
  const std::string name = value_name(to);
  const auto limit = [&](double wish) {
    return "(" + name + ")" + std::to_string(static_cast<int>(constant_in(to, wish)));
  };
  return "clamp(" + value + ", " + limit(-16) + ", " + limit(16) + ")";
}

std::string to_integer(ScalarOp op, DType from, DType to, const std::string& value) {
  const std::string name = value_name(to);
  const bool saturates = op == ScalarOp::saturate;
  const bool is_narrow = is_narrow_integer(to);
  if (!is_real(from) && !saturates) {
    return is_narrow ? lowest_bits(to, value) : "(" + name + ")" + value;
  }
  if (is_narrow && !saturates) return lowest_bits(to, "convert_int_sat_rtz(" + value + ")");
  // Mesa's library lacks conversions between whole numbers that say how to round.
  const std::string rounding = !is_real(from) ? "" : saturates ? "_rte" : "_rtz";
  const std::string converted = "convert_" + name + "_sat" + rounding + "(" + value + ")";
  if (is_narrow) return limited(to, converted);
  // OpenCL has a NaN become 0; NVIDIA's driver gives the least number for 64 bits, Oclgrind without
  // optimisation for 8.
  const bool is_byte = size_of(to) == 1 && !saturates;
  const bool is_said = is_real(from) && (size_of(to) == 8 || is_byte);
  return is_said ? "(isnan(" + value + ") ? (" + name + ")0 : " + converted + ")" : converted;
}

/// The functions between the bits of a half and a float that has its value.
std::string half_functions() {
  return once_in_a_program("MORTON_BITS_OF_F16",
                           "ushort morton_bits_of_f16(float value) {\n"
                           "  ushort stored;\n  vstore_half_rte(value, 0, (half*)&stored);\n"
                           "  return stored;\n}\n"
                           "float morton_f16_of_bits(ushort bits) {\n"
                           "  return vload_half(0, (const half*)&bits);\n}\n");
}

ConversionText reinterpreted_text(DType from, DType to, const std::string& value) {
  ConversionText text;
  std::string bits = "(" + value + ")";
  if (from == DType::f32) bits = "as_uint(" + value + ")";
  if (from == DType::f64) bits = "as_ulong(" + value + ")";
  if (from == DType::f16) bits = "morton_bits_of_f16(" + value + ")";
  if (from == DType::bf16) bits = "morton_to_bf16(" + value + ")";
  if (from == DType::f16 || to == DType::f16) text.functions += half_functions();
  if (from == DType::bf16) text.functions += element_functions(from);
  const std::string name = value_name(to);
  if (to == DType::f32) {
    text.value = "as_float((uint)" + bits + ")";
  } else if (to == DType::f64) {
    text.value = "as_double((ulong)" + bits + ")";
  } else if (to == DType::f16) {
    text.value = "morton_f16_of_bits((ushort)" + bits + ")";
  } else if (to == DType::bf16) {
    text.value = "as_float((uint)(ushort)" + bits + " << 16)";
  } else if (to == DType::boolean) {
    text.value = "(" + bits + " != 0)";
  } else if (is_narrow_integer(to)) {
    text.value = lowest_bits(to, bits);
  } else if (is_stored_real(to)) {
    const std::string mask = std::to_string((1 << bits_of(to)) - 1);
    text.value = "(" + name + ")((int)" + bits + " & " + mask + ")";
  } else {
    text.value = "(" + name + ")" + bits;
  }
  return text;
}

}  // namespace

std::string once_in_a_program(const std::string& macro, const std::string& text) {
  return "#ifndef " + macro + "\n#define " + macro + "\n" + text + "#endif\n";
}

ConversionText conversion_text(ScalarOp op, DType from, DType to, const std::string& value) {
  if (op == ScalarOp::bits) return reinterpreted_text(from, to, value);
  if (is_stored_real(from)) {
    const ConversionText number = decoded(from, value);
    ConversionText text = conversion_text(op, DType::f32, to, number.value);
    text.functions = number.functions + text.functions;
    return text;
  }
  if (to == DType::boolean) return {"", "(" + value + " != 0)"};
  if (is_stored_real(to)) return encoded(op, to, value);
  if (!is_real(to)) return {"", to_integer(op, from, to, value)};
  if (register_type(to) == to) return {"", "(" + value_name(to) + ")" + value};
  const std::string rounding = "morton_as_" + std::string(name_of(to));
  return {rounding_functions(to), rounding + "((float)" + value + ")"};
}

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
