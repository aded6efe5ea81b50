// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/for_tools.hpp"
#include "base/name_map.hpp"

namespace morton {

enum class ExpressionOp : std::uint8_t;

/// Names and their values for `Expression::evaluate`.
using Environment = NameMap<std::int64_t>;

/// An expression over 64-bit integers: what catalogue entries, views and recipes are written in.
///
/// Grammar, loosest first: `or`, `and`, `not`, comparisons (`== != < <= > >=`, value 0 or 1),
/// `+ -`, `* / %`, unary `-`, and atoms: a decimal number, a name (letters, digits, `_`, `.`), a
/// parenthesised expression, or a call of `ceil_div(a,b)`, `round_up(a,b)`, `min(a,b)`,
/// `max(a,b)`. Division truncates towards zero as in C. Values are immutable and cheap to copy.
class Expression {
 public:
  /// The constant 0.
  Expression();
  /// A constant.
  Expression(std::int64_t value);  // NOLINT(google-explicit-constructor): 2 * x reads as it should
  /// The variable `name`.
  [[nodiscard]] static Expression variable(std::string name);
  /// Parses `text`; throws ModelError that quotes the text and marks the position. `where` names
  /// the file and key for the message.
  [[nodiscard]] static Expression parse(std::string_view text, std::string_view where);

  /// The value under `environment`. Throws ModelError for an unknown name, an overflow or a
  /// division by zero, quoting the expression.
  [[nodiscard]] MORTON_FOR_TOOLS std::int64_t evaluate(const Environment& environment) const;
  /// This expression with the given variables replaced, simplified (constants folded; x*1, x+0,
  /// x/1, x%1 and 0*x removed).
  [[nodiscard]] Expression substitute(const std::map<std::string, Expression>& replacements) const;
  /// Canonical text that `parse` reads back.
  [[nodiscard]] MORTON_FOR_TOOLS std::string print() const;
  /// OpenCL C text; division and remainder are C's.
  [[nodiscard]] std::string to_opencl() const;
  /// Every variable in it.
  [[nodiscard]] std::set<std::string> variables() const;
  /// The terms of this sum that contain the variable `name`: taken away, they leave what is free of
  /// it. A factor that contains neither `name` nor one of `others` is multiplied in. No value when
  /// a term contains `name` together with one of `others`.
  [[nodiscard]] std::optional<Expression> terms_with(const std::string& name,
                                                     const std::set<std::string>& others) const;
  /// This expression without the quotients and remainders that sums of bounded variables make
  /// needless: (16 * a + b) / 16 is a, its remainder b, where b is below 16. `below` holds what a
  /// variable is less than, 0 where nothing is known; no variable in it is negative.
  [[nodiscard]] Expression reduced(const std::map<std::string, std::int64_t>& below) const;
  /// Whether each step of the variable `name` adds the same to this, as written: it stands in no
  /// quotient, remainder or comparison.
  [[nodiscard]] bool is_linear_in(const std::string& name) const;
  /// True and the value when no variable is left.
  [[nodiscard]] bool is_constant(std::int64_t* value = nullptr) const;

  friend Expression operator+(const Expression& a, const Expression& b);
  friend Expression operator-(const Expression& a, const Expression& b);
  friend Expression operator*(const Expression& a, const Expression& b);
  friend Expression operator/(const Expression& a, const Expression& b);
  friend Expression operator%(const Expression& a, const Expression& b);
  /// Same canonical text.
  friend bool operator==(const Expression& a, const Expression& b);

  struct Node;  ///< base/algebra/expression_node.hpp
  [[nodiscard]] const Node& root() const { return *node_; }
  /// A node of another expression, with what is below it.
  [[nodiscard]] static Expression of_node(std::shared_ptr<const Node> node) {
    return Expression(std::move(node));
  }

 private:
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  friend class ExpressionParser;
  friend class CompiledExpression;
  [[nodiscard]] static Expression make(ExpressionOp op, const Expression& a, const Expression& b);
  std::shared_ptr<const Node> node_;
};

}  // namespace morton
