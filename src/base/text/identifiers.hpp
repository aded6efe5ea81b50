// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <string_view>
#include <unordered_set>

namespace morton {

/// Whether the character may stand in an identifier: a letter, a digit or '_'.
[[nodiscard]] inline bool is_in_identifiers(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The words of letters, digits and '_' that code holds: views of it.
[[nodiscard]] std::unordered_set<std::string_view> identifiers_in(std::string_view code);

}  // namespace morton
