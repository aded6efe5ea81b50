// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/algebra/expression.hpp"
#include "base/algebra/expression_operators.hpp"
#include "base/error.hpp"

namespace morton {

/// Recursive descent over the grammar in the header; one level of `binary` for each precedence.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  Expression parse() {
    const Expression result = binary(1);
    skip_space();
    if (position_ != text_.size()) fail("unexpected text");
    return result;
  }

 private:
  static constexpr int kMaxDepth = 64;
  static constexpr int kMaxOperators = 1000;

  [[noreturn]] void fail(const std::string& why) const {
    throw ModelError(std::string(where_) + ": expression '" + std::string(text_) + "': " + why +
                     " at character " + std::to_string(position_ + 1));
  }

  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_]))) {
      ++position_;
    }
  }

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  }

  /// Consumes `token` when it comes next; a word must end where the token ends.
  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(position_, token.size()) != token) return false;
    const std::size_t end = position_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    position_ = end;
    return true;
  }

  Expression binary(int precedence) {
    if (precedence == 3) {
      if (!accept("not")) return binary(4);
      if (++depth_ > kMaxDepth) fail("nested too deeply");
      const Expression result =
          Expression::make(ExpressionOp::logical_not, binary(3), Expression());
      --depth_;
      return result;
    }
    if (precedence > 6) return unary();
    Expression left = binary(precedence + 1);
    while (true) {
      const auto op = next_operator(precedence);
      if (!op) return left;
      // Each operator deepens the tree on its left, and trees are walked by recursion.
      if (++operators_ > kMaxOperators) fail("too long");
      left = Expression::make(*op, left, binary(precedence + 1));
    }
  }

  std::optional<ExpressionOp> next_operator(int precedence) {
    for (const auto& facts : kExpressionOperators) {
      const bool is_binary = !is_unary(facts.op) && !is_call(facts.op);
      if (facts.precedence == precedence && is_binary && accept(facts.text)) return facts.op;
    }
    return std::nullopt;
  }

  Expression unary() {
    if (++depth_ > kMaxDepth) fail("nested too deeply");
    Expression result;
    if (accept("-")) {
      result = Expression::make(ExpressionOp::negate, unary(), Expression());
    } else if (accept("(")) {
      result = binary(1);
      if (!accept(")")) fail("expected ')'");
    } else {
      result = atom();
    }
    --depth_;
    return result;
  }

  Expression atom() {
    skip_space();
    const std::size_t start = position_;
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    const std::string_view word = text_.substr(start, position_ - start);
    if (word.empty()) fail("expected a number or a name");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return number(word, start);
    for (const auto& facts : kExpressionOperators) {
      if (is_call(facts.op) && facts.text == word) return call(facts);
    }
    return Expression::variable(std::string(word));
  }

  Expression number(std::string_view word, std::size_t start) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (status != std::errc() || end != word.data() + word.size()) {
      position_ = start;
      fail("'" + std::string(word) + "' is no 64-bit number");
    }
    return {value};
  }

  Expression call(const ExpressionOperator& function) {
    if (!accept("(")) fail("expected '(' after '" + std::string(function.text) + "'");
    const Expression a = binary(1);
    if (!accept(",")) fail("expected ','");
    const Expression b = binary(1);
    if (!accept(")")) fail("expected ')'");
    return Expression::make(function.op, a, b);
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t position_ = 0;
  int depth_ = 0;
  int operators_ = 0;
};

Expression Expression::parse(std::string_view text, std::string_view where) {
  return ExpressionParser(text, where).parse();
}

}  // namespace morton
