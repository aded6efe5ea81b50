// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string_view>
#include <vector>

namespace morton::tools {

/// The text without blanks at its ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// What comes before the first of the characters; all where there is none.
[[nodiscard]] inline std::string_view before(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_first_of(characters));
}

/// What comes behind the last `mark`; empty where there is none.
[[nodiscard]] inline std::string_view behind_last(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + mark.size());
}

/// Whether the text begins with one of the words.
template <typename Words>
[[nodiscard]] bool begins_with_one(std::string_view text, const Words& words) {
  for (const std::string_view word : words) {
    if (text.starts_with(word)) return true;
  }
  return false;
}

/// The number that the text begins with; false where it begins with none.
template <typename Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
}

/// The number that stands before `, word` or ` word` in a list such as "12 inst, 0:0 spills:fills".
/// False where the list has no such word.
template <typename Number>
[[nodiscard]] bool read_count(std::string_view list, std::string_view word, Number& number) {
  for (std::size_t at = list.find(word); at != std::string_view::npos;
       at = list.find(word, at + 1)) {
    const std::string_view rest = list.substr(at + word.size());
    const bool ends = rest.empty() || rest.front() == ',' || rest.front() == '\n';
    if (!ends || at < 2 || list[at - 1] != ' ') continue;
    const std::size_t blank = list.find_last_of(" ,", at - 2);
    return read_number(list.substr(blank == std::string_view::npos ? 0 : blank + 1), number);
  }
  return false;
}

}  // namespace morton::tools
