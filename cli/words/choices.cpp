// SPDX-License-Identifier: Apache-2.0
#include "words/choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "morton/tools/near_names.hpp"

namespace morton::cli {
namespace {

/// How a validator tells completion of its words: the parser has no other place for them.
std::string described(const std::vector<std::string>& words) {
  return fmt::format("{{{}}}", fmt::join(words, ","));
}

std::string no_choice(const std::string& given, const std::vector<std::string>& words) {
  return fmt::format("expected one of {}; got '{}'{}", fmt::join(words, ", "), given,
                     did_you_mean(given, words));
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string description = described(words);
  const auto complain = [words = std::move(words)](const std::string& text) -> std::string {
    return std::ranges::find(words, text) != words.end() ? "" : no_choice(text, words);
  };
  return CLI::Validator(complain, description);
}

CLI::Validator one_of(std::vector<std::pair<std::string, int>> names) {
  std::vector<std::string> words;
  for (const auto& [name, number] : names) words.push_back(name);
  const std::string description = described(words);
  const auto replace = [names = std::move(names),
                        words = std::move(words)](std::string& text) -> std::string {
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) return no_choice(text, words);
    text = std::to_string(names[static_cast<std::size_t>(found - words.begin())].second);
    return "";
  };
  return CLI::Validator(replace, description, "");
}

CLI::Validator offers(const std::vector<std::string>& words) {
  const auto accept = [](const std::string&) { return std::string(); };
  return CLI::Validator(accept, described(words));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  std::vector<std::string> words;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{"), end = type.find('}', open);
  if (open == std::string::npos || end == std::string::npos) return words;
  for (std::size_t start = open + 2; start < end;) {
    const std::size_t comma = std::min(type.find(',', start), end);
    words.push_back(type.substr(start, comma - start));
    start = comma + 1;
  }
  return words;
}

}  // namespace morton::cli
