// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "words/cli11_names.hpp"

namespace morton::cli {

/// Accepts one of these words, and says of another which is perhaps meant. Completion offers them.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
/// Likewise of words that stand for the numbers beside them.
[[nodiscard]] CLI::Validator one_of(std::vector<std::pair<std::string, int>> names);
/// Refuses nothing: completion offers these words.
[[nodiscard]] CLI::Validator offers(const std::vector<std::string>& words);

/// The words that one_of() or offers() names for an option; empty where it has neither.
[[nodiscard]] std::vector<std::string> choices_of(const CLI::Option& option);

/// The names of an enumeration's values, for one_of.
template <typename Enum>
[[nodiscard]] std::vector<std::pair<std::string, int>> numbered(
    const std::vector<std::pair<std::string, Enum>>& names) {
  std::vector<std::pair<std::string, int>> numbers;
  for (const auto& [name, value] : names) numbers.emplace_back(name, static_cast<int>(value));
  return numbers;
}

}  // namespace morton::cli
