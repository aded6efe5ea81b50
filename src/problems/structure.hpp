// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"

/// The structure of a problem as a struct, and as the named integers that entries and kernels know
/// it by.
///
/// A struct names each of its members once,
///
///     struct SoftmaxStructure {
///       enum class Result : std::uint8_t { share, logarithm } result = Result::share;
///
///       template <typename Self, typename Field>
///       static void fields(Self& self, Field field) {
///         field("LOG", self.result);
///       }
///     };
///
/// and what stands below reads it, writes it and lists its names. A member is an integer, an
/// enumeration, whose values are those of the integer, or an f32, of which the integer has the
/// bits.
namespace morton::problems {

namespace structure_detail {

template <typename T>
T from_integer(std::int64_t value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::int32_t>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
std::int64_t to_integer(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::int32_t>(value);
  } else {
    return static_cast<std::int64_t>(value);
  }
}

}  // namespace structure_detail

/// The names of the struct's members, in their order.
template <typename Structure>
[[nodiscard]] std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  const Structure structure;
  Structure::fields(structure, [&](std::string_view name, const auto&) { names.push_back(name); });
  return names;
}

/// The named integers of the struct.
template <typename Structure>
[[nodiscard]] Environment numbers_of(const Structure& structure) {
  Environment values;
  Structure::fields(structure, [&](std::string_view name, const auto& member) {
    values.emplace(name, structure_detail::to_integer(member));
  });
  return values;
}

/// The struct of these named integers, which may be among others. Throws InternalError for a name
/// that is missing.
template <typename Structure>
[[nodiscard]] Structure structure_of(const Environment& values) {
  Structure structure;
  Structure::fields(structure, [&](std::string_view name, auto& member) {
    const auto found = values.find(name);
    if (found == values.end()) throw InternalError("structure: no " + std::string(name));
    using Member = std::remove_reference_t<decltype(member)>;
    member = structure_detail::from_integer<Member>(found->second);
  });
  return structure;
}

}  // namespace morton::problems
