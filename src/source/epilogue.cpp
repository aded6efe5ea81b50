// SPDX-License-Identifier: Apache-2.0
#include "source/epilogue.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "base/numbers/small_types.hpp"
#include "morton/error.hpp"
#include "source/conversion.hpp"
#include "source/element.hpp"
#include "source/own_functions.hpp"

namespace morton::source {
namespace {

/// How integers compute what reals compute otherwise. %t is the type, %u the unsigned type in which
/// sums wrap around, %n the type's name. A quotient that the processor would trap on (by zero, or
/// of the least number by -1) is not asked for.
struct IntegerText {
  ScalarOp op;
  std::string_view of_signed, of_unsigned;
};

constexpr std::array<IntegerText, 17> kIntegerTexts{{
    {ScalarOp::add, "(%t)((%u)%0 + (%u)%1)", "(%t)((%u)%0 + (%u)%1)"},
    {ScalarOp::sub, "(%t)((%u)%0 - (%u)%1)", "(%t)((%u)%0 - (%u)%1)"},
    {ScalarOp::mul, "(%t)((%u)%0 * (%u)%1)", "(%t)((%u)%0 * (%u)%1)"},
    {ScalarOp::div, "(%t)(%1 == 0 ? 0 : %1 == -1 ? (%t)(0 - (%u)%0) : %0 / %1)",
     "(%t)(%1 == 0 ? 0 : %0 / %1)"},
    {ScalarOp::rem, "(%t)(%1 == 0 || %1 == -1 ? 0 : %0 %% %1)", "(%t)(%1 == 0 ? 0 : %0 %% %1)"},
    {ScalarOp::pow, "morton_power_%n(%0, %1)", "morton_power_%n(%0, %1)"},
    {ScalarOp::neg, "(%t)(0 - (%u)%0)", "(%t)(0 - (%u)%0)"},
    {ScalarOp::abs, "(%t)abs(%0)", "%0"},
    {ScalarOp::sign, "(%t)((%0 > 0) - (%0 < 0))", "(%t)(%0 > 0)"},
    {ScalarOp::shift_left, "(%t)(%1 >= 0 && %1 < %b ? (%u)%0 << %1 : 0)",
     "(%t)(%1 < %b ? (%u)%0 << %1 : 0)"},
    {ScalarOp::shift_right, "(%t)(%0 >> (%1 >= 0 && %1 < %b ? %1 : %b - 1))",
     "(%t)(%1 < %b ? (%u)%0 >> %1 : 0)"},
    {ScalarOp::bit_and, "(%t)(%0 & %1)", "(%t)(%0 & %1)"},
    {ScalarOp::bit_or, "(%t)(%0 | %1)", "(%t)(%0 | %1)"},
    {ScalarOp::bit_xor, "(%t)(%0 ^ %1)", "(%t)(%0 ^ %1)"},
    {ScalarOp::bit_not, "(%t)(~%0)", "(%t)(~%0)"},
    // Bits 31 to 62 of the product, plus bit 30: the two lowest of these, halved and rounded up.
    // (The shorter sum of two shifts becomes a funnel shift, which Oclgrind lacks.)
    {ScalarOp::doubling_high_mul,
     "(%0 == INT_MIN && %1 == INT_MIN ? INT_MAX : (%t)(2 * (%u)mul_hi(%0, %1) + "
     "((((%u)%0 * (%u)%1 >> 30) + 1) >> 1)))",
     ""},
    // Shifted rounding down, and 1 more where what is cut off is more than half, or half of a
    // number that is not negative.
    {ScalarOp::rounding_shift,
     "((%0 >> %1) + ((%0 & (%t)((1u << %1) - 1u)) > ((%t)((1u << %1) - 1u) >> 1) + (%0 < 0)))", ""},
}};

std::string_view pattern_of(ScalarOp op, DType type) {
  if (!is_real(type)) {
    for (const IntegerText& text : kIntegerTexts) {
      if (text.op == op) return is_unsigned(type) ? text.of_unsigned : text.of_signed;
    }
  }
  return facts_of(op).opencl;
}

std::string name_in(DType type) { return std::string(value_type(type)); }

class FunctionWriter {
 public:
  FunctionWriter(const TypedChain& chain, const std::string& name) : chain_(chain), name_(name) {}

  std::string write() {
    std::string body;
    const auto& steps = chain_.chain().steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      body += "  const " + name_in(chain_.step_type(i)) + " t" + std::to_string(i) + " = " +
              text_of(i) + ";\n";
    }
    const DType result = chain_.result_type();
    body += "  return " + text_of(chain_.chain().result, result) + ";\n}\n";
    std::string head = name_in(result) + " " + name_ + "(" + name_in(chain_.inputs()[0]) + " v";
    for (std::size_t i = 1; i < static_cast<std::size_t>(chain_.chain().input_count); ++i) {
      head += ", " + name_in(chain_.inputs()[i]) + " s" + std::to_string(i);
    }
    return helpers_ + head + ") {\n" + body;
  }

 private:
  std::string text_of(const ScalarRef& ref, DType type) {
    if (ref.kind == ScalarRef::Kind::step) return "t" + std::to_string(ref.index);
    if (ref.kind == ScalarRef::Kind::input) {
      return ref.index == 0 ? "v" : "s" + std::to_string(ref.index);
    }
    return literal_of(type, ref.value);
  }

  std::string text_of(std::size_t i) {
    const ScalarStep& step = chain_.chain().steps[i];
    const DType type = chain_.argument_type(i, step.arguments.size() - 1);
    if (makes_byte(step.op, type, step.target)) return byte_of(step);
    if (facts_of(step.op).typing == ScalarTyping::convert) {
      const std::string value = text_of(step.arguments[0], type);
      const ConversionText text = conversion_text(step.op, type, step.target, value);
      helpers_ += text.functions;
      return text.value;
    }
    if (step.op == ScalarOp::pow && !is_real(type)) add_power(type);
    const OwnFunction* own = own_function(step.op);
    if (own != nullptr && register_type(type) == DType::f32) {
      const std::string name = "morton_" + std::string(own->name);
      add_helper("MORTON_OWN_" + std::string(own->name), own_function_text(*own, name, {}));
      return fill(i, name + "(%0)", type);
    }
    return fill(i, pattern_of(step.op, type), type);
  }

  std::string byte_of(const ScalarStep& step) {
    const std::string name = "morton_nearest_" + std::string(name_of(step.target));
    add_helper("MORTON_NEAREST_" + std::string(name_of(step.target)),
               byte_function(name, step.target));
    const RoundedByte rounded = rounded_byte_of(chain_, step.arguments[0]);
    return name + "(" + text_of(rounded.value, DType::f32) + ", " + std::to_string(rounded.offset) +
           ")";
  }

  /// The pattern with the arguments put in.
  std::string fill(std::size_t i, std::string_view pattern, DType type) {
    std::string text;
    for (std::size_t c = 0; c < pattern.size(); ++c) {
      if (pattern[c] != '%') {
        text += pattern[c];
        continue;
      }
      switch (const char what = pattern[++c]) {
        case 't':
          text += name_in(type);
          break;
        case 'u':
          text += size_of(type) > 4 ? "ulong" : "uint";
          break;
        case 'n':
          text += name_of(type);
          break;
        case 'b':
          text += std::to_string(8 * size_of(type));
          break;
        case '%':
          text += '%';
          break;
        default:
          const auto a = static_cast<std::size_t>(what - '0');
          text += text_of(chain_.chain().steps[i].arguments[a], chain_.argument_type(i, a));
      }
    }
    return text;
  }

  void add_helper(const std::string& name, const std::string& text) {
    helpers_ += once_in_a_program(name, text);
  }

  /// By repeated squaring; a negative exponent gives what the quotient 1 / x^-y truncates to.
  void add_power(DType type) {
    const std::string t = name_in(type);
    const std::string u = size_of(type) > 4 ? "ulong" : "uint";
    const std::string n(name_of(type));
    std::string text = t + " morton_power_" + n + "(" + t + " x, " + t + " y) {\n";
    if (!is_unsigned(type)) {
      text += "  if (y < 0) return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;\n";
    }
    text += "  " + u + " base = (" + u + ")x;\n  " + u + " power = 1;\n";
    text += "  for (" + t + " n = y; n > 0; n >>= 1) {\n    if (n & 1) power *= base;\n";
    text += "    base *= base;\n  }\n  return (" + t + ")power;\n}\n";
    add_helper("MORTON_POWER_" + n, text);
  }

  const TypedChain& chain_;
  const std::string& name_;
  std::string helpers_;
};

std::string integer_literal(DType type, double value) {
  const double kept = constant_in(type, value);
  const std::string name = name_in(type);
  if (type == DType::u64) {
    constexpr double kTwo64 = 18446744073709551616.0;
    if (kept >= kTwo64) return "(ULONG_MAX)";
    return "(" + std::to_string(static_cast<std::uint64_t>(kept)) + "UL)";
  }
  if (type == DType::u32) return "(" + std::to_string(static_cast<std::uint32_t>(kept)) + "u)";
  // The largest whole number of double below 2^63 is the limit of a constant.
  constexpr double kTwo63 = 9223372036854775808.0;
  if (kept >= kTwo63) return "(LONG_MAX)";
  if (kept <= -kTwo63) return "(LONG_MIN)";
  const auto whole = static_cast<std::int64_t>(kept);
  if (type == DType::i64) return "(" + std::to_string(whole) + "L)";
  if (whole == std::numeric_limits<std::int32_t>::min()) return "(INT_MIN)";
  if (type == DType::i32) return "(" + std::to_string(whole) + ")";
  return "((" + name + ")" + std::to_string(whole) + ")";
}

}  // namespace

std::string float_literal(double value) {
  const auto rounded = static_cast<float>(value);
  if (std::isnan(rounded)) return "NAN";
  if (std::isinf(rounded)) return rounded > 0 ? "INFINITY" : "(-INFINITY)";
  std::ostringstream number;
  number.precision(9);
  number << std::showpoint << rounded;
  return "(" + number.str() + "f)";
}

std::string literal_of(DType type, double value) {
  if (register_type(type) == DType::f32) return float_literal(value);
  if (is_stored_real(type)) {
    return "((uchar)" + std::to_string(to_stored_real(type, static_cast<float>(value))) + ")";
  }
  if (type != DType::f64) return integer_literal(type, value);
  if (!std::isfinite(value)) return "((double)" + float_literal(value) + ")";
  std::ostringstream number;
  number.precision(17);
  number << std::showpoint << value;
  return "(" + number.str() + ")";
}

std::string epilogue_function(const TypedChain& chain, const std::string& name) {
  return FunctionWriter(chain, name).write();
}

}  // namespace morton::source
