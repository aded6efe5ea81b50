// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "base/checked.hpp"

namespace morton {

enum class Dialect { kMorton, kOpenCl };

/// One node of the tree: a constant (op and name empty), a variable (name set) or an operation.
struct Expression::Node {
  using Pointer = std::shared_ptr<const Node>;
  std::string op;
  std::string name;
  std::int64_t value = 0;
  std::vector<Pointer> arguments;

  [[nodiscard]] std::int64_t evaluate(const Environment& environment) const;
  [[nodiscard]] std::string print(Dialect dialect) const;
  [[nodiscard]] int precedence() const;
  void collect(std::set<std::string>& names) const;
};

namespace {

struct OperatorFacts {
  std::string_view text;
  int precedence;  ///< higher binds tighter
};

constexpr std::array<OperatorFacts, 15> kOperators{{
    {"or", 1},
    {"and", 2},
    {"not", 3},
    {"==", 4},
    {"!=", 4},
    {"<=", 4},
    {">=", 4},
    {"<", 4},
    {">", 4},
    {"+", 5},
    {"-", 5},
    {"*", 6},
    {"/", 6},
    {"%", 6},
    {"neg", 7},
}};

int precedence_of(std::string_view op) {
  for (const auto& facts : kOperators) {
    if (facts.text == op) return facts.precedence;
  }
  return 0;
}

std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == 0) throw ModelError("division by zero");
  if (b == -1) return checked_mul(a, -1, "quotient");
  return a / b;
}

std::int64_t apply(std::string_view op, std::int64_t a, std::int64_t b) {
  if (op == "+") return checked_add(a, b, "sum");
  if (op == "-") {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result)) throw ModelError("difference does not fit 64 bits");
    return result;
  }
  if (op == "*") return checked_mul(a, b, "product");
  if (op == "/") return divide(a, b);
  if (op == "%") return b == -1 ? 0 : (b == 0 ? divide(a, b) : a % b);
  if (op == "==") return a == b ? 1 : 0;
  if (op == "!=") return a != b ? 1 : 0;
  if (op == "<=") return a <= b ? 1 : 0;
  if (op == ">=") return a >= b ? 1 : 0;
  if (op == "<") return a < b ? 1 : 0;
  if (op == ">") return a > b ? 1 : 0;
  if (op == "and") return a != 0 && b != 0 ? 1 : 0;
  if (op == "or") return a != 0 || b != 0 ? 1 : 0;
  if (op == "not") return a == 0 ? 1 : 0;
  if (op == "neg") return checked_mul(a, -1, "negation");
  if (op == "min") return a < b ? a : b;
  if (op == "max") return a > b ? a : b;
  if (op == "ceil_div" || op == "round_up") {
    if (b <= 0 || a < 0) {
      throw ModelError(std::string(op) + "(" + std::to_string(a) + ", " + std::to_string(b) +
                       ") needs a >= 0 and b > 0");
    }
    return op == "ceil_div" ? ceil_div(a, b) : round_up(a, b);
  }
  throw InternalError("expression: operator '" + std::string(op) + "' is not in the table");
}

bool is_unary(std::string_view op) { return op == "not" || op == "neg"; }
bool is_call(std::string_view op) {
  return op == "min" || op == "max" || op == "ceil_div" || op == "round_up";
}

}  // namespace

std::int64_t Expression::Node::evaluate(const Environment& environment) const {
  if (!name.empty()) {
    const auto found = environment.find(name);
    if (found == environment.end()) throw ModelError("unknown name '" + name + "'");
    return found->second;
  }
  if (op.empty()) return value;
  const std::int64_t a = arguments[0]->evaluate(environment);
  // A guard such as `B != 0 and A % B == 0` must not evaluate what it guards against.
  if (op == "and" && a == 0) return 0;
  if (op == "or" && a != 0) return 1;
  const std::int64_t b = arguments.size() > 1 ? arguments[1]->evaluate(environment) : 0;
  return apply(op, a, b);
}

int Expression::Node::precedence() const {
  return op.empty() || is_call(op) ? 8 : precedence_of(op);
}

std::string Expression::Node::print(Dialect dialect) const {
  if (!name.empty()) return name;
  if (op.empty()) {
    const std::string digits = std::to_string(value);
    return value < 0 ? "(" + digits + ")" : digits;
  }
  const auto child = [&](std::size_t i, int least) {
    const std::string text = arguments[i]->print(dialect);
    return arguments[i]->precedence() < least ? "(" + text + ")" : text;
  };
  if (op == "neg") return "-" + child(0, 7);
  if (op == "not") return (dialect == Dialect::kOpenCl ? "!(" : "not (") + child(0, 0) + ")";
  if (is_call(op)) {
    if (dialect == Dialect::kMorton || op == "min" || op == "max") {
      return op + "(" + child(0, 0) + ", " + child(1, 0) + ")";
    }
    const std::string quotient =
        "((" + child(0, 6) + " + " + child(1, 6) + " - 1) / " + child(1, 7);
    return op == "ceil_div" ? quotient + ")" : quotient + " * " + child(1, 7) + ")";
  }
  std::string text = op;
  if (dialect == Dialect::kOpenCl && op == "and") text = "&&";
  if (dialect == Dialect::kOpenCl && op == "or") text = "||";
  // Left-associative: a right operand of the same precedence needs parentheses.
  return child(0, precedence()) + " " + text + " " + child(1, precedence() + 1);
}

void Expression::Node::collect(std::set<std::string>& names) const {
  if (!name.empty()) names.insert(name);
  for (const auto& argument : arguments) argument->collect(names);
}

Expression::Expression() : Expression(std::int64_t{0}) {}

Expression::Expression(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->value = value;
  node_ = std::move(node);
}

Expression Expression::variable(std::string name) {
  auto node = std::make_shared<Node>();
  node->name = std::move(name);
  return Expression(std::shared_ptr<const Node>(std::move(node)));
}

bool Expression::is_constant(std::int64_t* value) const {
  if (!node_->op.empty() || !node_->name.empty()) return false;
  if (value != nullptr) *value = node_->value;
  return true;
}

Expression Expression::make(std::string_view op, const Expression& a, const Expression& b) {
  std::int64_t x = 0;
  std::int64_t y = 0;
  const bool constant_a = a.is_constant(&x);
  const bool constant_b = is_unary(op) || b.is_constant(&y);
  // A division by a constant zero stays in the tree, so that evaluating it reports it with its
  // text.
  const bool divides = op == "/" || op == "%" || op == "ceil_div" || op == "round_up";
  if (constant_a && constant_b && !(divides && y <= 0)) return {apply(op, x, y)};
  if (op == "+" && constant_a && x == 0) return b;
  if ((op == "+" || op == "-") && constant_b && y == 0) return a;
  if (op == "*" && ((constant_a && x == 0) || (constant_b && y == 0))) return {0};
  if (op == "*" && constant_a && x == 1) return b;
  if ((op == "*" || op == "/" || op == "ceil_div" || op == "round_up") && constant_b && y == 1) {
    return a;
  }
  if (op == "%" && constant_b && y == 1) return {0};
  if ((op == "/" || op == "%") && constant_a && x == 0) return {0};
  auto node = std::make_shared<Node>();
  node->op = std::string(op);
  node->arguments.push_back(a.node_);
  if (!is_unary(op)) node->arguments.push_back(b.node_);
  return Expression(std::shared_ptr<const Node>(std::move(node)));
}

Expression operator+(const Expression& a, const Expression& b) {
  return Expression::make("+", a, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return Expression::make("-", a, b);
}
Expression operator*(const Expression& a, const Expression& b) {
  return Expression::make("*", a, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  return Expression::make("/", a, b);
}
Expression operator%(const Expression& a, const Expression& b) {
  return Expression::make("%", a, b);
}
bool operator==(const Expression& a, const Expression& b) { return a.print() == b.print(); }

std::int64_t Expression::evaluate(const Environment& environment) const {
  try {
    return node_->evaluate(environment);
  } catch (const ModelError& error) {
    throw ModelError("expression '" + print() + "': " + error.what());
  }
}

Expression Expression::substitute(const std::map<std::string, Expression>& replacements) const {
  if (!node_->name.empty()) {
    const auto found = replacements.find(node_->name);
    return found == replacements.end() ? *this : found->second;
  }
  if (node_->op.empty()) return *this;
  const Expression a = Expression(node_->arguments[0]).substitute(replacements);
  const Expression b = node_->arguments.size() > 1
                           ? Expression(node_->arguments[1]).substitute(replacements)
                           : Expression();
  return make(node_->op, a, b);
}

std::set<std::string> Expression::variables() const {
  std::set<std::string> names;
  node_->collect(names);
  return names;
}

std::optional<Expression> Expression::terms_with(const std::string& name,
                                                 const std::set<std::string>& others) const {
  const auto names = variables();
  if (!names.contains(name)) return Expression(0);
  const auto contains_other = [&](const std::set<std::string>& among) {
    return std::any_of(others.begin(), others.end(),
                       [&](const std::string& other) { return among.contains(other); });
  };
  if (!contains_other(names)) return *this;
  const std::string& op = node_->op;
  if (op != "+" && op != "-" && op != "*" && op != "neg") return std::nullopt;
  const Expression a(node_->arguments[0]);
  const Expression b = is_unary(op) ? Expression() : Expression(node_->arguments[1]);
  if (op == "*") {
    const auto names_a = a.variables();
    const auto names_b = b.variables();
    if (!names_b.contains(name) && !contains_other(names_b)) {
      const auto terms = a.terms_with(name, others);
      return terms ? std::optional(*terms * b) : std::nullopt;
    }
    if (!names_a.contains(name) && !contains_other(names_a)) {
      const auto terms = b.terms_with(name, others);
      return terms ? std::optional(a * *terms) : std::nullopt;
    }
    return std::nullopt;
  }
  const auto terms_a = a.terms_with(name, others);
  const auto terms_b = b.terms_with(name, others);
  return terms_a && terms_b ? std::optional(make(op, *terms_a, *terms_b)) : std::nullopt;
}

std::string Expression::print() const { return node_->print(Dialect::kMorton); }

std::string Expression::to_opencl() const { return node_->print(Dialect::kOpenCl); }

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
      const Expression result = Expression::make("not", binary(3), Expression());
      --depth_;
      return result;
    }
    if (precedence > 6) return unary();
    Expression left = binary(precedence + 1);
    while (true) {
      const std::string_view op = next_operator(precedence);
      if (op.empty()) return left;
      // Each operator deepens the tree on its left, and trees are walked by recursion.
      if (++operators_ > kMaxOperators) fail("too long");
      left = Expression::make(op, left, binary(precedence + 1));
    }
  }

  std::string_view next_operator(int precedence) {
    for (const auto& facts : kOperators) {
      if (facts.precedence == precedence && facts.text != "not" && accept(facts.text)) {
        return facts.text;
      }
    }
    return {};
  }

  Expression unary() {
    if (++depth_ > kMaxDepth) fail("nested too deeply");
    Expression result;
    if (accept("-")) {
      result = Expression::make("neg", unary(), Expression());
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
    if (is_call(word)) return call(word);
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

  Expression call(std::string_view function) {
    if (!accept("(")) fail("expected '(' after '" + std::string(function) + "'");
    const Expression a = binary(1);
    if (!accept(",")) fail("expected ','");
    const Expression b = binary(1);
    if (!accept(")")) fail("expected ')'");
    return Expression::make(function, a, b);
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
