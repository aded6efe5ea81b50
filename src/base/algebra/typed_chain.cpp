// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/typed_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/numbers/small_types.hpp"

namespace morton {
namespace {

constexpr std::array kReals{DType::f32, DType::f64, DType::f16, DType::bf16, DType::tf32};
constexpr std::array kUnsigned{DType::u8, DType::u16, DType::u32, DType::u64};

bool is_allowed(ScalarTyping typing, DType type) {
  switch (typing) {
    case ScalarTyping::numbers:
    case ScalarTyping::order:
      return type != DType::boolean && !is_only_stored(type);
    case ScalarTyping::reals:
    case ScalarTyping::test:
      return is_real(type);
    case ScalarTyping::wholes:
      return !is_real(type) && type != DType::boolean && !is_only_stored(type);
    case ScalarTyping::words:
      return type == DType::i32;
    case ScalarTyping::logic:
      return type == DType::boolean;
    case ScalarTyping::same:
      return !is_only_stored(type);
    case ScalarTyping::choice:
    case ScalarTyping::convert:
      return true;
  }
  throw InternalError("chain: typing out of range");
}

bool gives_truth(ScalarTyping typing) {
  return typing == ScalarTyping::order || typing == ScalarTyping::same ||
         typing == ScalarTyping::logic || typing == ScalarTyping::test;
}

template <typename T>
double saturated(double value) {
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
  return std::isnan(value) ? 0.0 : std::clamp(std::nearbyint(value), kLeast, kMost);
}

double narrow_constant(DType type, double value) {
  const bool is_signed = type == DType::i4 || type == DType::i2;
  const int most = (1 << (bits_of(type) - (is_signed ? 1 : 0))) - 1;
  const int least = is_signed ? -most - 1 : 0;
  return std::isnan(value) ? 0.0 : std::clamp<double>(std::nearbyint(value), least, most);
}

}  // namespace

DType register_type(DType type) { return is_real(type) && type != DType::f64 ? DType::f32 : type; }

bool is_real(DType type) { return std::find(kReals.begin(), kReals.end(), type) != kReals.end(); }

bool is_unsigned(DType type) {
  return std::find(kUnsigned.begin(), kUnsigned.end(), type) != kUnsigned.end();
}

double constant_in(DType type, double value) {
  switch (register_type(type)) {
    case DType::f64:
      return value;
    case DType::i8:
      return saturated<std::int8_t>(value);
    case DType::u8:
      return saturated<std::uint8_t>(value);
    case DType::i16:
      return saturated<std::int16_t>(value);
    case DType::u16:
      return saturated<std::uint16_t>(value);
    case DType::i32:
      return saturated<std::int32_t>(value);
    case DType::u32:
      return saturated<std::uint32_t>(value);
    case DType::i64:
      return saturated<std::int64_t>(value);
    case DType::u64:
      return saturated<std::uint64_t>(value);
    case DType::boolean:
      return value != 0.0 ? 1.0 : 0.0;
    default:
      break;
  }
  const auto single = static_cast<float>(value);
  if (is_narrow_integer(type)) return narrow_constant(type, value);
  if (!is_stored_real(type)) return static_cast<double>(single);
  return static_cast<double>(from_stored_real(type, to_stored_real(type, single)));
}

TypedChain::TypedChain(Chain chain, std::vector<DType> inputs)
    : chain_(std::move(chain)), inputs_(std::move(inputs)) {
  if (static_cast<std::size_t>(chain_.input_count) > inputs_.size()) {
    throw ModelError("chain " + chain_.print() + ": reads " + std::to_string(chain_.input_count) +
                     " inputs, of which " + std::to_string(inputs_.size()) + " have a type");
  }
  for (const ScalarStep& step : chain_.steps) add_step(step);
}

DType TypedChain::type_of(const ScalarRef& ref, DType constant) const {
  if (ref.kind == ScalarRef::Kind::constant) return constant;
  const auto index = ref.place();
  return ref.kind == ScalarRef::Kind::input ? inputs_[index] : steps_[index];
}

void TypedChain::add_step(const ScalarStep& step) {
  const ScalarFacts& facts = facts_of(step.op);
  const auto fail = [&](DType got, const std::string& expected) {
    throw ModelError("chain: " + std::string(facts.name) + " of " + std::string(name_of(got)) +
                     "; expected " + expected);
  };
  // What a constant is where nothing says more.
  DType common = facts.typing == ScalarTyping::logic ? DType::boolean : DType::f32;
  bool is_known = false;
  const std::size_t first = facts.typing == ScalarTyping::choice ? 1 : 0;
  for (std::size_t i = first; i < step.arguments.size(); ++i) {
    if (step.arguments[i].kind == ScalarRef::Kind::constant) continue;
    const DType type = type_of(step.arguments[i], common);
    if (!is_allowed(facts.typing, type)) fail(type, "another type");
    if (is_known && register_type(type) != register_type(common)) {
      fail(type, std::string(name_of(common)) + ", as its other argument is");
    }
    if (!is_known) common = type;
    is_known = true;
  }
  if (facts.typing == ScalarTyping::choice) {
    const DType condition = type_of(step.arguments[0], DType::boolean);
    if (condition != DType::boolean) fail(condition, "a condition of bool");
  }
  constants_.push_back(common);
  const bool converts = facts.typing == ScalarTyping::convert;
  steps_.push_back(gives_truth(facts.typing) ? DType::boolean : converts ? step.target : common);
}

DType TypedChain::argument_type(std::size_t i, std::size_t a) const {
  const ScalarStep& step = chain_.steps[i];
  const bool condition = a == 0 && facts_of(step.op).typing == ScalarTyping::choice;
  return type_of(step.arguments[a], condition ? DType::boolean : constants_[i]);
}

DType TypedChain::result_type() const { return type_of(chain_.result, DType::f32); }

bool TypedChain::uses(DType type) const {
  return std::find(inputs_.begin(), inputs_.end(), type) != inputs_.end() ||
         std::find(steps_.begin(), steps_.end(), type) != steps_.end();
}

Bounded Chain::evaluate(std::span<const Bounded> inputs) const {
  return TypedChain(*this, std::vector<DType>(inputs.size(), DType::f32)).evaluate(inputs);
}

}  // namespace morton
