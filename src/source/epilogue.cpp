// SPDX-License-Identifier: Apache-2.0
#include "source/epilogue.hpp"

#include <cmath>
#include <sstream>

namespace morton {
namespace {

std::string text_of(const ScalarRef& ref) {
  if (ref.kind == ScalarRef::Kind::step) return "t" + std::to_string(ref.index);
  if (ref.kind == ScalarRef::Kind::input) {
    return ref.index == 0 ? "v" : "s" + std::to_string(ref.index);
  }
  return float_literal(ref.value);
}

/// The primitive's OpenCL text with its arguments put in.
std::string fill(const ScalarStep& step) {
  const std::string_view pattern = facts_of(step.op).opencl;
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    ++i;
    text += text_of(step.arguments[static_cast<std::size_t>(pattern[i] - '0')]);
  }
  return text;
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

std::string epilogue_function(const Chain& chain, const std::string& name) {
  std::string text = "float " + name + "(float v";
  for (int i = 1; i < chain.input_count; ++i) text += ", float s" + std::to_string(i);
  text += ") {\n";
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    text += "  const float t" + std::to_string(i) + " = " + fill(chain.steps[i]) + ";\n";
  }
  return text + "  return " + text_of(chain.result) + ";\n}\n";
}

}  // namespace morton
