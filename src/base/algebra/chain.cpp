// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/chain.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>

#include "base/error.hpp"

namespace morton {
namespace {

// Division is 2.5 ulp and sqrt 3 ulp in the full profile's single precision; add and mul are exact
// to half an ulp, and one more half stands for contraction into fma.
constexpr std::array<ScalarFacts, 59> kFacts{{
    {ScalarOp::add, "add", 2, ScalarTyping::numbers, "(%0 + %1)", 1.0, 1.0},
    {ScalarOp::sub, "sub", 2, ScalarTyping::numbers, "(%0 - %1)", 1.0, 1.0},
    {ScalarOp::mul, "mul", 2, ScalarTyping::numbers, "(%0 * %1)", 1.0, 1.0},
    {ScalarOp::div, "div", 2, ScalarTyping::numbers, "(%0 / %1)", 2.5, 1.0},
    {ScalarOp::rem, "rem", 2, ScalarTyping::numbers, "fmod(%0, %1)", 0.0, 0.0},
    {ScalarOp::pow, "pow", 2, ScalarTyping::numbers, "pow(%0, %1)", 16.0, 16.0},
    {ScalarOp::min, "min", 2, ScalarTyping::numbers, "(%0 > %1 ? %1 : %0)", 0.0, 0.0},
    {ScalarOp::max, "max", 2, ScalarTyping::numbers, "(%0 < %1 ? %1 : %0)", 0.0, 0.0},
    {ScalarOp::neg, "neg", 1, ScalarTyping::numbers, "(-%0)", 0.0, 0.0},
    {ScalarOp::abs, "abs", 1, ScalarTyping::numbers, "fabs(%0)", 0.0, 0.0},
    {ScalarOp::sign, "sign", 1, ScalarTyping::numbers,
     "(isnan(%0) ? %0 : (%t)((%0 > 0) - (%0 < 0)))", 0.0, 0.0},
    {ScalarOp::floor, "floor", 1, ScalarTyping::reals, "floor(%0)", 0.0, 0.0},
    {ScalarOp::ceil, "ceil", 1, ScalarTyping::reals, "ceil(%0)", 0.0, 0.0},
    {ScalarOp::trunc, "trunc", 1, ScalarTyping::reals, "trunc(%0)", 0.0, 0.0},
    {ScalarOp::round, "round", 1, ScalarTyping::reals, "rint(%0)", 0.0, 0.0},
    {ScalarOp::exp, "exp", 1, ScalarTyping::reals, "exp(%0)", 3.0, 3.0},
    {ScalarOp::expm1, "expm1", 1, ScalarTyping::reals, "expm1(%0)", 3.0, 3.0},
    {ScalarOp::log, "log", 1, ScalarTyping::reals, "log(%0)", 3.0, 3.0},
    {ScalarOp::log1p, "log1p", 1, ScalarTyping::reals, "log1p(%0)", 2.0, 2.0},
    {ScalarOp::sqrt, "sqrt", 1, ScalarTyping::reals, "sqrt(%0)", 3.0, 1.0},
    {ScalarOp::sin, "sin", 1, ScalarTyping::reals, "sin(%0)", 4.0, 4.0},
    {ScalarOp::cos, "cos", 1, ScalarTyping::reals, "cos(%0)", 4.0, 4.0},
    {ScalarOp::tan, "tan", 1, ScalarTyping::reals, "tan(%0)", 5.0, 5.0},
    {ScalarOp::asin, "asin", 1, ScalarTyping::reals, "asin(%0)", 4.0, 4.0},
    {ScalarOp::acos, "acos", 1, ScalarTyping::reals, "acos(%0)", 4.0, 4.0},
    {ScalarOp::atan, "atan", 1, ScalarTyping::reals, "atan(%0)", 5.0, 5.0},
    {ScalarOp::sinh, "sinh", 1, ScalarTyping::reals, "sinh(%0)", 4.0, 4.0},
    {ScalarOp::cosh, "cosh", 1, ScalarTyping::reals, "cosh(%0)", 4.0, 4.0},
    {ScalarOp::tanh, "tanh", 1, ScalarTyping::reals, "tanh(%0)", 5.0, 5.0},
    {ScalarOp::asinh, "asinh", 1, ScalarTyping::reals, "asinh(%0)", 4.0, 4.0},
    {ScalarOp::acosh, "acosh", 1, ScalarTyping::reals, "acosh(%0)", 4.0, 4.0},
    {ScalarOp::atanh, "atanh", 1, ScalarTyping::reals, "atanh(%0)", 5.0, 5.0},
    {ScalarOp::erf, "erf", 1, ScalarTyping::reals, "erf(%0)", 16.0, 16.0},
    {ScalarOp::equal, "equal", 2, ScalarTyping::same, "(%0 == %1)", 0.0, 0.0},
    {ScalarOp::less, "less", 2, ScalarTyping::order, "(%0 < %1)", 0.0, 0.0},
    {ScalarOp::less_equal, "less_equal", 2, ScalarTyping::order, "(%0 <= %1)", 0.0, 0.0},
    {ScalarOp::logical_and, "and", 2, ScalarTyping::logic, "(%0 && %1)", 0.0, 0.0},
    {ScalarOp::logical_or, "or", 2, ScalarTyping::logic, "(%0 || %1)", 0.0, 0.0},
    {ScalarOp::logical_xor, "xor", 2, ScalarTyping::logic, "(%0 != %1)", 0.0, 0.0},
    {ScalarOp::logical_not, "not", 1, ScalarTyping::logic, "(!%0)", 0.0, 0.0},
    {ScalarOp::is_nan, "is_nan", 1, ScalarTyping::test, "isnan(%0)", 0.0, 0.0},
    {ScalarOp::is_inf, "is_inf", 1, ScalarTyping::test, "isinf(%0)", 0.0, 0.0},
    {ScalarOp::select, "select", 3, ScalarTyping::choice, "(%0 ? %1 : %2)", 0.0, 0.0},
    {ScalarOp::shift_left, "shift_left", 2, ScalarTyping::wholes, "", 0.0, 0.0},
    {ScalarOp::shift_right, "shift_right", 2, ScalarTyping::wholes, "", 0.0, 0.0},
    {ScalarOp::bit_and, "bit_and", 2, ScalarTyping::wholes, "", 0.0, 0.0},
    {ScalarOp::bit_or, "bit_or", 2, ScalarTyping::wholes, "", 0.0, 0.0},
    {ScalarOp::bit_xor, "bit_xor", 2, ScalarTyping::wholes, "", 0.0, 0.0},
    {ScalarOp::bit_not, "bit_not", 1, ScalarTyping::wholes, "", 0.0, 0.0},
    {ScalarOp::doubling_high_mul, "doubling_high_mul", 2, ScalarTyping::words, "", 0.0, 0.0},
    {ScalarOp::rounding_shift, "rounding_shift", 2, ScalarTyping::words, "", 0.0, 0.0},
    {ScalarOp::cast, "cast", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::cast_open, "cast_open", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::cast_down, "cast_down", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::cast_open_down, "cast_open_down", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::cast_nearest, "cast_nearest", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::cast_open_nearest, "cast_open_nearest", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::saturate, "saturate", 1, ScalarTyping::convert, "", 0.0, 0.0},
    {ScalarOp::bits, "bits", 1, ScalarTyping::convert, "", 0.0, 0.0},
}};

/// The row of each operation: rows stand in the order of their kinds, and texts are asked for
/// often.
constexpr std::array<std::uint8_t, kFacts.size()> rows_of_operations() {
  std::array<std::uint8_t, kFacts.size()> rows{};
  for (std::size_t row = 0; row < kFacts.size(); ++row) {
    rows.at(static_cast<std::size_t>(kFacts[row].op)) = static_cast<std::uint8_t>(row);
  }
  return rows;
}
constexpr auto kRows = rows_of_operations();

constexpr bool each_has_its_row() {
  for (std::size_t op = 0; op < kRows.size(); ++op) {
    if (static_cast<std::size_t>(kFacts[kRows[op]].op) != op) return false;
  }
  return true;
}
static_assert(each_has_its_row(), "each operation has one row");

}  // namespace

const ScalarFacts& facts_of(ScalarOp op) {
  const auto number = static_cast<std::size_t>(op);
  if (number >= kRows.size()) throw InternalError("chain: operation out of range");
  return kFacts[kRows[number]];
}

ScalarRef Chain::append(ScalarOp op, std::vector<ScalarRef> arguments) {
  if (static_cast<int>(arguments.size()) != facts_of(op).arguments) {
    throw InternalError("chain: " + std::string(facts_of(op).name) + " got " +
                        std::to_string(arguments.size()) + " arguments");
  }
  steps.push_back({op, std::move(arguments)});
  result = ScalarRef::step(static_cast<int>(steps.size()) - 1);
  return result;
}

ScalarRef Chain::append_conversion(ScalarOp op, ScalarRef argument, DType target) {
  append(op, {argument});
  steps.back().target = target;
  return result;
}

bool Chain::is_identity() const {
  return result.kind == ScalarRef::Kind::input && result.index == 0;
}

Chain Chain::after(const Chain& producer, int input, std::span<const int> producer_inputs,
                   std::span<const int> own_inputs) const {
  Chain joined;
  const auto offset = static_cast<int>(producer.steps.size());
  const auto renumber = [](const ScalarRef& ref, std::span<const int> numbers, int shift) {
    if (ref.kind == ScalarRef::Kind::input) {
      return ScalarRef::input(numbers[ref.place()]);
    }
    return ref.kind == ScalarRef::Kind::step ? ScalarRef::step(ref.index + shift) : ref;
  };
  for (const auto& step : producer.steps) {
    ScalarStep copy{step.op, {}, step.target};
    for (const auto& ref : step.arguments)
      copy.arguments.push_back(renumber(ref, producer_inputs, 0));
    joined.steps.push_back(std::move(copy));
  }
  const ScalarRef produced = renumber(producer.result, producer_inputs, 0);
  const auto own = [&](const ScalarRef& ref) {
    const bool replaced = ref.kind == ScalarRef::Kind::input && ref.index == input;
    return replaced ? produced : renumber(ref, own_inputs, offset);
  };
  for (const auto& step : steps) {
    ScalarStep copy{step.op, {}, step.target};
    for (const auto& ref : step.arguments) copy.arguments.push_back(own(ref));
    joined.steps.push_back(std::move(copy));
  }
  joined.result = own(result);
  joined.input_count = 0;
  for (const int number : producer_inputs)
    joined.input_count = std::max(joined.input_count, number + 1);
  for (std::size_t i = 0; i < own_inputs.size(); ++i) {
    if (static_cast<int>(i) != input)
      joined.input_count = std::max(joined.input_count, own_inputs[i] + 1);
  }
  return joined;
}

std::string Chain::print() const {
  std::vector<std::string> values;
  const auto text_of = [&](const ScalarRef& ref) -> std::string {
    if (ref.kind == ScalarRef::Kind::step) return values[ref.place()];
    if (ref.kind == ScalarRef::Kind::input) {
      return ref.index == 0 ? "v" : "s" + std::to_string(ref.index);
    }
    std::ostringstream number;
    number.precision(17);
    number << ref.value;
    return number.str();
  };
  for (const auto& step : steps) {
    std::string text(facts_of(step.op).name);
    if (facts_of(step.op).typing == ScalarTyping::convert) {
      text += "_" + std::string(name_of(step.target));
    }
    text += "(";
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      text += (i > 0 ? ", " : "") + text_of(step.arguments[i]);
    }
    values.push_back(text + ")");
  }
  return text_of(result);
}

}  // namespace morton
