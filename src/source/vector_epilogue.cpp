// SPDX-License-Identifier: Apache-2.0
#include "source/vector_epilogue.hpp"

#include <algorithm>
#include <cmath>

#include "source/conversion.hpp"
#include "source/element.hpp"
#include "source/epilogue.hpp"
#include "source/own_functions.hpp"

namespace morton::source {
namespace {

/// Steps whose texts mean the same of vectors, lane by lane.
constexpr ScalarOp kOfVectors[] = {
    ScalarOp::add,         ScalarOp::sub,        ScalarOp::mul,         ScalarOp::div,
    ScalarOp::min,         ScalarOp::max,        ScalarOp::neg,         ScalarOp::abs,
    ScalarOp::floor,       ScalarOp::ceil,       ScalarOp::trunc,       ScalarOp::round,
    ScalarOp::sqrt,        ScalarOp::equal,      ScalarOp::less,        ScalarOp::less_equal,
    ScalarOp::logical_and, ScalarOp::logical_or, ScalarOp::logical_not, ScalarOp::is_nan,
    ScalarOp::is_inf,      ScalarOp::select};

bool is_of_vectors(ScalarOp op) {
  return std::ranges::find(kOfVectors, op) != std::end(kOfVectors) || own_function(op) != nullptr;
}

bool is_byte(DType type) { return type == DType::u8 || type == DType::i8; }

/// Types that have vectors in registers. A truth is one of i32.
bool has_lanes(DType type) {
  const DType held = register_type(type);
  return held == DType::f32 || held == DType::i32 || is_byte(held);
}

/// Whether whole numbers of this type have a text for the step: sums and products wrap around.
bool is_of_integers(ScalarOp op, DType type) {
  if (op == ScalarOp::min || op == ScalarOp::max) return type == DType::i32 || is_byte(type);
  const bool wraps = op == ScalarOp::add || op == ScalarOp::sub || op == ScalarOp::mul;
  return wraps && type == DType::i32;
}

/// Whole numbers that become real, and reals that become bytes.
bool is_vector_conversion(ScalarOp op, DType from, DType to) {
  if (op == ScalarOp::cast) return (from == DType::i32 || is_byte(from)) && to == DType::f32;
  return op == ScalarOp::saturate && register_type(from) == DType::f32 && is_byte(to);
}

bool has_vectors(const TypedChain& chain) {
  const auto is_f32 = [](DType type) { return register_type(type) == DType::f32; };
  if (!std::ranges::all_of(chain.inputs(), has_lanes)) return false;
  if (!has_lanes(chain.result_type())) return false;
  const auto& steps = chain.chain().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DType type = chain.step_type(i);
    if (is_vector_conversion(steps[i].op, chain.argument_type(i, 0), type)) continue;
    const bool sums = is_of_integers(steps[i].op, type);
    const bool reals = is_of_vectors(steps[i].op) && (is_f32(type) || type == DType::boolean);
    if (!sums && !reals) return false;
    for (std::size_t a = 0; a < steps[i].arguments.size(); ++a) {
      const DType argument = chain.argument_type(i, a);
      const bool is_truth =
          argument == DType::boolean && steps[i].arguments[a].kind == ScalarRef::Kind::step;
      if (!(sums ? argument == type : is_f32(argument) || is_truth)) return false;
    }
  }
  return true;
}

class VectorWriter {
 public:
  VectorWriter(const TypedChain& chain, const std::string& name, int lanes)
      : chain_(chain), name_(name), lanes_(std::to_string(lanes)) {}

  std::string head() const {
    std::string text;
    for (const DType type : {DType::f32, DType::i32, DType::u32, DType::u8, DType::i8}) {
      text += "typedef " + std::string(value_type(type)) + " " + lanes_of(type) +
              " __attribute__((ext_vector_type(" + lanes_ + "), aligned(" +
              std::to_string(size_of(type)) + ")));\n";
    }
    return text;
  }

  std::string signature() const {
    std::string text =
        lanes_of(chain_.result_type()) + " " + name_ + "(" + lanes_of(chain_.inputs()[0]) + " v";
    for (int i = 1; i < chain_.chain().input_count; ++i) {
      text +=
          ", " + lanes_of(chain_.inputs()[static_cast<std::size_t>(i)]) + " s" + std::to_string(i);
    }
    return text + ") {\n";
  }

  /// Lane by lane, each by the function of numbers.
  std::string loop(const std::string& scalar) const {
    std::string call = scalar + "(v[l]";
    for (int i = 1; i < chain_.chain().input_count; ++i) {
      call += ", s" + std::to_string(i) + "[l]";
    }
    return signature() + "  " + lanes_of(chain_.result_type()) +
           " result = 0;\n#pragma unroll\n  for (int l = 0; l < " + lanes_ +
           "; ++l) result[l] = " + call + ");\n  return result;\n}\n";
  }

  std::string body() {
    std::string text;
    const auto& steps = chain_.chain().steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      text += "  const " + lanes_of(chain_.step_type(i)) + " t" + std::to_string(i) + " = " +
              step(i) + ";\n";
    }
    const std::string result = reference(chain_.chain().result, chain_.result_type());
    return helpers_ + signature() + text + "  return " + result + ";\n}\n";
  }

 private:
  [[nodiscard]] std::string lanes_of(DType type) const { return lane_type(name_, type); }

  std::string reference(const ScalarRef& ref, DType type) const {
    if (ref.kind == ScalarRef::Kind::step) return "t" + std::to_string(ref.index);
    if (ref.kind == ScalarRef::Kind::constant) {
      return "((" + lanes_of(type) + ")" + literal_of(register_type(type), ref.value) + ")";
    }
    return ref.index == 0 ? "v" : "s" + std::to_string(ref.index);
  }

  /// The nearest whole number within the type's range; NaN becomes 0. The value is kept within the
  /// range before it is rounded, so that the lowest bits of 1.5 * 2^23 + value are the number.
  [[nodiscard]] std::string byte_of(const ScalarRef& argument, DType type) const {
    const RoundedByte rounded = rounded_byte_of(chain_, argument);
    const auto limit = [&](double end) {
      return float_literal(constant_in(type, end) - rounded.offset);
    };
    const std::string given = reference(rounded.value, DType::f32);
    const std::string none = float_literal(-rounded.offset);
    const std::string value =
        type == DType::u8 ? given
                          : "(" + given + " == " + given + " ? " + given + " : " + none + ")";
    const std::string raised =
        "(" + value + " > " + limit(-1e3) + " ? " + value + " : " + limit(-1e3) + ")";
    const std::string kept =
        "(" + raised + " < " + limit(1e3) + " ? " + raised + " : " + limit(1e3) + ")";
    const std::string bits = "__builtin_astype(" + kept + " + 12582912.0f, " +
                             lanes_of(DType::i32) + ") + " + std::to_string(rounded.offset);
    return "__builtin_convertvector(" + bits + ", " + lanes_of(type) + ")";
  }

  std::string step(std::size_t i) {
    const ScalarStep& step = chain_.chain().steps[i];
    const DType type = chain_.step_type(i);
    const auto argument = [&](std::size_t a) {
      return reference(step.arguments[a], chain_.argument_type(i, a));
    };
    if (step.op == ScalarOp::cast) {
      return "__builtin_convertvector(" + argument(0) + ", " + lanes_of(type) + ")";
    }
    if (step.op == ScalarOp::saturate) return byte_of(step.arguments[0], type);
    if (is_of_integers(step.op, type)) return whole_step(step.op, argument(0), argument(1));
    std::string pattern(facts_of(step.op).opencl);
    if (step.op == ScalarOp::round) {
      if (helpers_.find(" " + name_ + "_round(") == std::string::npos) helpers_ += round_function();
      pattern = name_ + "_round(%0)";
    }
    if (const OwnFunction* own = own_function(step.op)) {
      const std::string function = name_ + "_" + std::string(own->name);
      if (helpers_.find(" " + function + "(") == std::string::npos) {
        helpers_ += own_function_text(*own, function,
                                      {lanes_of(DType::f32), lanes_of(DType::boolean), lanes_});
      }
      pattern = function + "(%0)";
    }
    std::string text;
    for (std::size_t c = 0; c < pattern.size(); ++c) {
      if (pattern[c] != '%') {
        text += pattern[c];
        continue;
      }
      text += argument(static_cast<std::size_t>(pattern[++c] - '0'));
    }
    return text;
  }

  /// The nearest whole number, the even one of two. PoCL's rint has four times as many
  /// instructions.
  [[nodiscard]] std::string round_function() const {
    const std::string real = lanes_of(DType::f32);
    return real + " " + name_ + "_round(" + real + " x) {\n  const " + real +
           " size = fabs(x);\n  const " + real +
           " whole = copysign(size + 8388608.0f - 8388608.0f, x);\n"
           "  return size < 8388608.0f ? whole : x;\n}\n";
  }

  /// A sum, a difference or a product of whole numbers, by numbers without sign; the lesser or the
  /// greater of two.
  [[nodiscard]] std::string whole_step(ScalarOp op, const std::string& a,
                                       const std::string& b) const {
    if (op == ScalarOp::min) return "(" + a + " < " + b + " ? " + a + " : " + b + ")";
    if (op == ScalarOp::max) return "(" + a + " > " + b + " ? " + a + " : " + b + ")";
    const char* sign = op == ScalarOp::add ? " + " : op == ScalarOp::sub ? " - " : " * ";
    const auto as = [&](const std::string& value, DType type) {
      return "__builtin_astype(" + value + ", " + lanes_of(type) + ")";
    };
    return as(as(a, DType::u32) + sign + as(b, DType::u32), DType::i32);
  }

  const TypedChain& chain_;
  const std::string& name_;
  std::string lanes_;
  std::string helpers_;
};

}  // namespace

std::string lane_type(const std::string& function, DType type) {
  const DType held = type == DType::boolean ? DType::i32 : register_type(type);
  return function + "_" + std::string(name_of(held));
}

std::string vector_epilogue_function(const TypedChain& chain, const std::string& name,
                                     const std::string& scalar, int lanes) {
  VectorWriter writer(chain, name, lanes);
  return writer.head() + (has_vectors(chain) ? writer.body() : writer.loop(scalar));
}

}  // namespace morton::source
