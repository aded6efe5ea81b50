// SPDX-License-Identifier: Apache-2.0
#include "base/chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"

namespace morton {
namespace {

// Division is 2.5 ulp and sqrt 3 ulp in the full profile's single precision; add and mul are exact
// to half an ulp, and one more half stands for contraction into fma.
constexpr std::array<ScalarFacts, 14> kFacts{{
    {ScalarOp::add, "add", 2, "(%0 + %1)", 1.0},
    {ScalarOp::sub, "sub", 2, "(%0 - %1)", 1.0},
    {ScalarOp::mul, "mul", 2, "(%0 * %1)", 1.0},
    {ScalarOp::div, "div", 2, "(%0 / %1)", 2.5},
    {ScalarOp::min, "min", 2, "(%0 > %1 ? %1 : %0)", 0.0},
    {ScalarOp::max, "max", 2, "(%0 < %1 ? %1 : %0)", 0.0},
    {ScalarOp::neg, "neg", 1, "(-%0)", 0.0},
    {ScalarOp::abs, "abs", 1, "fabs(%0)", 0.0},
    {ScalarOp::exp, "exp", 1, "exp(%0)", 3.0},
    {ScalarOp::log, "log", 1, "log(%0)", 3.0},
    {ScalarOp::sqrt, "sqrt", 1, "sqrt(%0)", 3.0},
    {ScalarOp::tanh, "tanh", 1, "tanh(%0)", 5.0},
    {ScalarOp::erf, "erf", 1, "erf(%0)", 16.0},
    {ScalarOp::round, "round", 1, "rint(%0)", 0.0},
}};

double compute(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::min:
      return a > b ? b : a;
    case ScalarOp::max:
      return a < b ? b : a;
    case ScalarOp::neg:
      return -a;
    case ScalarOp::abs:
      return std::fabs(a);
    case ScalarOp::exp:
      return std::exp(a);
    case ScalarOp::log:
      return std::log(a);
    case ScalarOp::sqrt:
      return std::sqrt(a);
    case ScalarOp::tanh:
      return std::tanh(a);
    case ScalarOp::erf:
      return std::erf(a);
    case ScalarOp::round:
      return std::nearbyint(a);
  }
  throw InternalError("chain: operation out of range");
}

/// How far the result may move when the arguments move by their errors: the larger of the changes
/// at the corners, which is exact for these monotone or bilinear functions and safe where a
/// derivative is steep.
double carried_error(ScalarOp op, const Bounded& a, const Bounded& b, double value) {
  double worst = 0.0;
  for (const double x : {a.value - a.error, a.value + a.error}) {
    for (const double y : {b.value - b.error, b.value + b.error}) {
      const double moved = compute(op, x, y);
      if (!std::isnan(moved)) worst = std::max(worst, std::fabs(moved - value));
    }
  }
  return worst;
}

constexpr double kUnit = 1.1920928955078125e-7;  // 2^-23, one ulp of a number in [1, 2)

}  // namespace

const ScalarFacts& facts_of(ScalarOp op) {
  for (const auto& facts : kFacts) {
    if (facts.op == op) return facts;
  }
  throw InternalError("chain: operation out of range");
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

bool Chain::is_identity() const {
  return result.kind == ScalarRef::Kind::input && result.index == 0;
}

Chain Chain::after(const Chain& producer, int input, std::span<const int> producer_inputs,
                   std::span<const int> own_inputs) const {
  Chain joined;
  const auto offset = static_cast<int>(producer.steps.size());
  const auto renumber = [](const ScalarRef& ref, std::span<const int> numbers, int shift) {
    if (ref.kind == ScalarRef::Kind::input) {
      return ScalarRef::input(numbers[static_cast<std::size_t>(ref.index)]);
    }
    return ref.kind == ScalarRef::Kind::step ? ScalarRef::step(ref.index + shift) : ref;
  };
  for (const auto& step : producer.steps) {
    ScalarStep copy{step.op, {}};
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
    ScalarStep copy{step.op, {}};
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

Bounded Chain::evaluate(std::span<const Bounded> inputs) const {
  std::vector<Bounded> values;
  values.reserve(steps.size());
  const auto value_of = [&](const ScalarRef& ref) -> Bounded {
    if (ref.kind == ScalarRef::Kind::input) return inputs[static_cast<std::size_t>(ref.index)];
    if (ref.kind == ScalarRef::Kind::constant) {
      const double stored = static_cast<double>(static_cast<float>(ref.value));
      return {ref.value, std::fabs(stored - ref.value)};
    }
    return values[static_cast<std::size_t>(ref.index)];
  };
  for (const auto& step : steps) {
    const Bounded a = value_of(step.arguments[0]);
    const Bounded b = step.arguments.size() > 1 ? value_of(step.arguments[1]) : Bounded{};
    Bounded out;
    out.value = compute(step.op, a.value, b.value);
    const double carried = carried_error(step.op, a, b, out.value);
    const double smallest = static_cast<double>(std::numeric_limits<float>::min());
    out.error = carried + facts_of(step.op).ulps * kUnit * std::fabs(out.value) +
                (facts_of(step.op).ulps > 0 ? smallest : 0.0);  // a subnormal may flush to zero
    values.push_back(out);
  }
  return value_of(result);
}

std::string Chain::print() const {
  std::vector<std::string> values;
  const auto text_of = [&](const ScalarRef& ref) -> std::string {
    if (ref.kind == ScalarRef::Kind::step) return values[static_cast<std::size_t>(ref.index)];
    if (ref.kind == ScalarRef::Kind::input) {
      return ref.index == 0 ? "v" : "s" + std::to_string(ref.index);
    }
    std::ostringstream number;
    number.precision(17);
    number << ref.value;
    return number.str();
  };
  for (const auto& step : steps) {
    std::string text = std::string(facts_of(step.op).name) + "(";
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      text += (i > 0 ? ", " : "") + text_of(step.arguments[i]);
    }
    values.push_back(text + ")");
  }
  return text_of(result);
}

}  // namespace morton
