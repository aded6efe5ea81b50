// SPDX-License-Identifier: Apache-2.0
//
// Conversions of stored reals, by whole numbers alone: no device rounds otherwise, or makes a zero
// of a small number.
#include "source/stored_real.hpp"

#include <algorithm>
#include <map>

#include "base/numbers/small_types.hpp"

namespace morton::source {
namespace {

using Words = std::map<std::string, std::string>;

/// `text` with the words between dollars replaced.
std::string filled_in(std::string_view text, const Words& words) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find('$');
    result += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('$', open + 1);
    result += words.at(std::string(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
  return result;
}

std::string number(std::int64_t value) { return std::to_string(value) + "u"; }

// No branches: of those LLVM makes a switch over bytes, whose negative cases Oclgrind 21.10 does
// not find.
constexpr std::string_view kFromSmall = R"(float $name$(uchar code) {
  const uint size = code & $magnitude$;
  const uint sign = code & $sign$ ? 0x80000000u : 0u;
  const uint lead = 31 - clz(size | 1u);
  const uint small = ((lead + $unit$) << 23) | (size << (23 - lead) & 0x7fffffu);
  uint bits = size >= $normal$ ? (size << $dropped$) + $moved_fraction$ : small;
  bits = size > $most$ ? 0x7fc00000u : bits;
  bits = $infinity$ != 0 && size == $infinity$ ? 0x7f800000u : bits;
  bits = size == 0 ? ($one_zero$ && sign != 0 ? 0x7fc00000u : 0u) : bits;
  return as_float(sign | bits);
}
)";

constexpr std::string_view kToSmall = R"(uchar $name$(float value) {
  const uint bits = as_uint(value);
  const uint size = bits & 0x7fffffffu;
  const uint sign = bits != size ? $sign$ : 0u;
  if (size > 0x7f800000u) return (uchar)($nan$ != 0 ? $nan$ | sign : 0u);
  const int exponent = (int)(size >> 23) - $exponent_of_one$;
  uint code;
  if (exponent > 0) {
    code = ((size + $half$ + (size >> $dropped$ & 1u)) >> $dropped$) - $moved$;
  } else {
    const uint fraction = (size & 0x7fffffu) | 0x800000u;
    const uint by = (uint)min($dropped_all$ - exponent, 25);
    code = (fraction + ((1u << (by - 1u)) - 1u) + (fraction >> by & 1u)) >> by;
  }
  if (code > $most$) code = $beyond$;
  return (uchar)($one_zero$ && code == 0 ? 0u : code | sign);
}
)";

constexpr std::string_view kFromPower = R"(float $name$(uchar code) {
  if (code == 255) return as_float(0x7fc00000u);
  return as_float(code == 0 ? 0x00400000u : (uint)code << 23);
}
)";

constexpr std::string_view kToPower = R"(uchar $name$(float value) {
  const uint bits = as_uint(value);
  const uint size = bits & 0x7fffffffu;
  if (size > 0x7f800000u || (bits != size && size != 0)) return 255;
  if (size < 0x00400000u) return $saturates$ || ($up$ && size != 0) ? 0 : 255;
  const uint power = size >> 23;
  const uint rest = power == 0 ? (size - 0x00400000u) << 1 : size & 0x7fffffu;
  const uint code = power + (rest >= $least_up$ ? 1u : 0u);
  return (uchar)(code < 255u ? code : $saturates$ ? 254u : 255u);
}
)";

Words words_of(const SmallReal& format, const std::string& name) {
  const int dropped = 23 - format.fraction_bits;
  const int moved = 127 - format.bias;
  return {
      {"name", name},
      {"sign", number(format.sign())},
      {"magnitude", number(format.sign() - 1)},
      {"most", number(format.most)},
      {"infinity", number(format.infinity)},
      {"nan", number(format.nan)},
      {"one_zero", format.has_one_zero() ? "1" : "0"},
      {"normal", number(std::int64_t{1} << format.fraction_bits)},
      {"dropped", std::to_string(dropped)},
      {"dropped_all", std::to_string(dropped + 1)},
      {"half", number((std::int64_t{1} << (dropped - 1)) - 1)},
      {"moved", number(static_cast<std::int64_t>(moved) << format.fraction_bits)},
      {"moved_fraction", number(static_cast<std::int64_t>(moved) << 23)},
      {"exponent_of_one", std::to_string(moved)},
      {"unit", number(moved + 1 - format.fraction_bits)},
  };
}

}  // namespace

std::string from_stored_real_text(DType type, const std::string& name) {
  const SmallReal* format = small_real(type);
  if (format == nullptr) return filled_in(kFromPower, {{"name", name}});
  return filled_in(kFromSmall, words_of(*format, name));
}

std::string to_stored_real_text(DType type, const std::string& name, OutOfRange out,
                                PowerRounding rounding) {
  const bool saturates = out == OutOfRange::saturates;
  const SmallReal* format = small_real(type);
  if (format == nullptr) {
    const bool up = rounding == PowerRounding::up;
    const bool down = rounding == PowerRounding::down;
    return filled_in(kToPower, {{"name", name},
                                {"saturates", saturates ? "1" : "0"},
                                {"up", up ? "1" : "0"},
                                {"least_up", up     ? "1u"
                                             : down ? "0x800000u"
                                                    : "0x400000u"}});
  }
  Words words = words_of(*format, name);
  const bool takes_most = saturates || format->nan == 0;
  const int open = format->infinity != 0 ? format->infinity : format->nan;
  words["beyond"] = number(takes_most ? format->most : open);
  return filled_in(kToSmall, words);
}

}  // namespace morton::source
