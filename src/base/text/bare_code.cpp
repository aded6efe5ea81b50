// SPDX-License-Identifier: Apache-2.0
#include "base/text/bare_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace morton {
namespace {

/// A property of each character, looked up: texts of kernels are read at every plan.
using CharacterSet = std::array<bool, 256>;

constexpr CharacterSet set_of(std::string_view characters) {
  CharacterSet set{};
  for (const char c : characters) set[static_cast<unsigned char>(c)] = true;
  return set;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

/// Whether blanks and then a line end follow `at`, with one blank at least.
bool has_blanks_to_line_end(std::string_view text, std::size_t at) {
  // A carriage return belongs to its line feed.
  const std::size_t end = text.find_first_not_of(" \t\v\f", at);
  if (end == at || end == std::string_view::npos) return false;
  return text[end] == '\n' || text[end] == '\r';
}

/// Whether all compilers agree what the lines are, and none of them can be told from another.
bool has_plain_lines(std::string_view text) {
  constexpr std::string_view kTrigraphOfHash = "?\?=";
  constexpr std::string_view kTrigraphOfBackslash = "?\?/";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto comes = [&](std::string_view word) { return text.substr(at).starts_with(word); };
    switch (text[at]) {
      case '_':
        if (comes("__LINE__") || comes("__FILE__")) return false;
        break;
      case '%':
        if (comes("%:")) return false;
        break;
      case '?':
        if (comes(kTrigraphOfHash) || comes(kTrigraphOfBackslash)) return false;
        break;
      case '\r':
        if (!comes("\r\n")) return false;
        break;
      case '\\':
        if (has_blanks_to_line_end(text, at + 1)) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

std::string with_joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\\'), text.size());
    joined += text.substr(0, end);
    text.remove_prefix(end);
    const bool joins = text.starts_with("\\\n") || text.starts_with("\\\r\n");
    if (!joins) joined += text.substr(0, 1);
    text.remove_prefix(std::min<std::size_t>(joins ? text.find('\n') + 1 : 1, text.size()));
  }
  return joined;
}

/// Whether a directive, "#" and the line end before it included, is `#line`.
bool is_line_directive(std::string_view directive) {
  directive.remove_prefix(directive.find('#') + 1);
  if (directive.starts_with(' ')) directive.remove_prefix(1);
  constexpr std::string_view kWord = "line";
  if (!directive.starts_with(kWord)) return false;
  directive.remove_prefix(kWord.size());
  const auto next = static_cast<unsigned char>(directive.empty() ? ' ' : directive.front());
  return std::isalnum(next) == 0 && next != '_';
}

/// Walks a text whose lines are joined, and writes what matters of it.
class CodeStripper {
 public:
  explicit CodeStripper(std::string_view text) : text_(text) { code_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) step();
    end_line();
    if (code_.ends_with('\n')) code_.pop_back();
    return std::move(code_);
  }

 private:
  void step() {
    const std::string_view rest = text_.substr(at_);
    const char next = rest.front();
    if (next == '\n') {
      end_line();
      ++at_;
    } else if (is_blank(next)) {
      gap_ = true;
      ++at_;
    } else if (rest.starts_with("//")) {
      gap_ = true;
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("/*") && rest.find("*/", 2) != std::string_view::npos) {
      gap_ = true;
      at_ += rest.find("*/", 2) + 2;
    } else if (rest.starts_with("/*")) {
      take(rest.size());  // no compiler takes it
    } else if (next == '#' && !line_has_code_) {
      begin_directive();
    } else {
      take(next == '"' || next == '\'' ? literal_length(rest) : plain_length(rest));
    }
  }

  /// Of a string or character: to its closing quote, else to the line's end.
  static std::size_t literal_length(std::string_view rest) {
    std::size_t length = 1;
    while (length < rest.size() && rest[length] != '\n') {
      if (rest[length] == rest.front()) return length + 1;
      length += rest[length] == '\\' ? 2 : 1;
    }
    return std::min(length, rest.size());
  }

  /// Up to the next character that may mean anything but itself.
  static std::size_t plain_length(std::string_view rest) {
    static constexpr CharacterSet kMeans = set_of(" \t\v\f\r\n/\"'#");
    std::size_t length = 1;
    while (length < rest.size() && !kMeans[static_cast<unsigned char>(rest[length])]) ++length;
    return length;
  }

  void take(std::size_t length) {
    if (gap_ && !code_.empty() && code_.back() != '\n') code_ += ' ';
    gap_ = false;
    line_has_code_ = true;
    code_ += text_.substr(at_, length);
    at_ += length;
  }

  void begin_directive() {
    directive_ = code_.size();
    if (!code_.empty() && code_.back() != '\n') code_ += '\n';
    gap_ = false;
    take(1);
  }

  void end_line() {
    gap_ = true;
    line_has_code_ = false;
    if (directive_ == std::string::npos) return;
    if (is_line_directive(std::string_view(code_).substr(directive_))) {
      code_.resize(directive_);
    } else {
      code_ += '\n';
    }
    directive_ = std::string::npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string code_;
  bool gap_ = false;                           ///< blanks, line ends or comments were passed
  bool line_has_code_ = false;                 ///< of the line that is read
  std::size_t directive_ = std::string::npos;  ///< where that line's directive begins in `code_`
};

}  // namespace

std::string bare_code(std::string_view text) {
  if (!has_plain_lines(text)) return std::string(text);
  return CodeStripper(with_joined_lines(text)).run();
}

}  // namespace morton
