// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/expression.hpp"

#include <algorithm>
#include <vector>

#include "base/algebra/expression_operators.hpp"
#include "base/numbers/checked.hpp"

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

int precedence_of(std::string_view op) {
  for (const auto& facts : kExpressionOperators) {
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

}  // namespace morton
