// SPDX-License-Identifier: Apache-2.0
#include "catalogue/shared_text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/text/bare_code.hpp"
#include "base/text/identifiers.hpp"

namespace morton::catalogue {
namespace {

/// The word that ends at `end`, blanks before that left out; empty where there is none.
std::string_view word_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_in_identifiers(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// What follows `word` in a directive of that word: "FOUR 4" of "#define FOUR 4".
std::optional<std::string_view> behind(std::string_view word, std::string_view directive) {
  directive.remove_prefix(std::min(directive.find_first_not_of(" ", 1), directive.size()));
  if (!directive.starts_with(word)) return std::nullopt;
  directive.remove_prefix(word.size());
  if (!directive.empty() && is_in_identifiers(directive.front())) return std::nullopt;
  directive.remove_prefix(std::min(directive.find_first_not_of(" "), directive.size()));
  return directive;
}

/// The identifier that a text begins with.
std::string first_identifier(std::string_view text) {
  return std::string(
      text.substr(0, std::ranges::find_if_not(text, is_in_identifiers) - text.begin()));
}

/// Where the braces that open at the first one in `code` are closed again; its end if nowhere.
std::size_t end_of_braces(std::string_view code) {
  int depth = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i + 1;
  }
  return code.size();
}

/// Reads one declaration of code without directives after the other.
class Declarations {
 public:
  Declarations(const std::string& file, std::string_view code) : file_(file), code_(code) {}

  std::vector<std::string> names() {
    std::vector<std::string> found;
    while (skip_blanks()) found.push_back(next());
    return found;
  }

 private:
  bool skip_blanks() {
    while (code_.starts_with(' ')) code_.remove_prefix(1);
    return !code_.empty();
  }
  std::string next() {
    const bool is_type = code_.starts_with("typedef ");
    if (!is_type && !code_.starts_with("static ")) fail();
    const std::size_t brace = code_.find('{');
    std::size_t end = code_.find(';');
    // A function ends with its braces, a type with the semicolon behind them.
    if (brace < end) {
      end = end_of_braces(code_);
      if (is_type) end = code_.find(';', end);
    }
    const std::string_view text = code_.substr(0, end);
    std::string_view name;
    if (is_type) {
      name = word_before(text, std::min(text.find("__attribute__"), text.size()));
    } else {
      name = word_before(text, std::min(text.find('('), text.size()));
    }
    // A type has a word at least between `typedef` and its name.
    const bool is_bare =
        is_type &&
        word_before(text, static_cast<std::size_t>(name.data() - text.data())) == "typedef";
    if (end == std::string_view::npos || name.empty() || is_bare) fail();
    std::string found(name);
    code_.remove_prefix(std::min(end + (is_type ? 1 : 0), code_.size()));
    return found;
  }
  [[noreturn]] void fail() const {
    std::string got(code_.substr(0, 40));
    while (got.ends_with(' ')) got.pop_back();
    throw ModelError(file_ + ": expected static functions, typedefs and directives, got '" + got +
                     "'");
  }

  const std::string& file_;
  std::string_view code_;
};

}  // namespace

SharedText read_shared_text(std::string file, std::string text) {
  SharedText shared{std::move(file), std::move(text), {}, {}};
  const std::string bare = bare_code(shared.text);
  std::string code;
  for (std::string_view rest = bare; !rest.empty();) {
    const std::string_view content = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(content.size() + 1, rest.size()));
    if (!content.starts_with('#')) {
      code.append(content).append(" ");
    } else if (behind("include", content)) {
      throw ModelError(shared.file + ": includes another file; an entry's \"include\" lists both");
    } else if (const auto definition = behind("define", content)) {
      // Either branch of a condition may define it.
      std::string macro = first_identifier(*definition);
      if (std::ranges::count(shared.macros, macro) == 0) shared.macros.push_back(std::move(macro));
    }
  }
  shared.names = Declarations(shared.file, code).names();
  return shared;
}

}  // namespace morton::catalogue
