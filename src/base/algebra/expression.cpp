// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/expression.hpp"

#include <algorithm>

#include "base/algebra/expression_node.hpp"
#include "base/numbers/checked.hpp"

namespace morton {

using Dialect = Expression::Node::Dialect;

namespace {

/// Says why the operation has no value.
[[noreturn]] void say_why_none(ExpressionOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ExpressionOp::add:
      static_cast<void>(checked_add(a, b, "sum"));
      break;
    case ExpressionOp::subtract:
      throw ModelError("difference does not fit 64 bits");
    case ExpressionOp::multiply:
      static_cast<void>(checked_mul(a, b, "product"));
      break;
    case ExpressionOp::negate:
      static_cast<void>(checked_mul(a, -1, "negation"));
      break;
    case ExpressionOp::divide:
    case ExpressionOp::remainder:
      if (b == 0) throw ModelError("division by zero");
      static_cast<void>(checked_mul(a, -1, "quotient"));
      break;
    case ExpressionOp::ceil_div:
    case ExpressionOp::round_up:
      if (b <= 0 || a < 0) {
        throw ModelError(std::string(facts_of(op).text) + "(" + std::to_string(a) + ", " +
                         std::to_string(b) + ") needs a >= 0 and b > 0");
      }
      static_cast<void>(round_up(a, b));
      break;
    default:
      break;
  }
  throw InternalError("expression: an operation that has a value failed");
}

std::int64_t operated(ExpressionOp op, std::int64_t a, std::int64_t b) {
  const auto value = value_of(op, a, b);
  return value ? *value : (say_why_none(op, a, b), 0);
}

void print_child(const Expression::Node& child, int least, Dialect dialect, std::string& text) {
  const bool enclosed = child.precedence() < least;
  if (enclosed) text += '(';
  child.print(dialect, text);
  if (enclosed) text += ')';
}

/// OpenCL C has `min` and `max`; the others are quotients.
void print_call(const Expression::Node& call, Dialect dialect, std::string& text) {
  const bool is_function =
      dialect == Dialect::morton || call.op == ExpressionOp::min || call.op == ExpressionOp::max;
  if (is_function) {
    text += facts_of(call.op).text;
    text += '(';
    call.a->print(dialect, text);
    text += ", ";
    call.b->print(dialect, text);
    text += ')';
    return;
  }
  text += "((";
  print_child(*call.a, 6, dialect, text);
  text += " + ";
  print_child(*call.b, 6, dialect, text);
  text += " - 1) / ";
  print_child(*call.b, 7, dialect, text);
  if (call.op == ExpressionOp::round_up) {
    text += " * ";
    print_child(*call.b, 7, dialect, text);
  }
  text += ')';
}

}  // namespace

std::int64_t Expression::Node::evaluate(const Environment& environment) const {
  if (op == ExpressionOp::number) return value;
  if (op == ExpressionOp::variable) {
    const auto found = environment.find(name);
    if (found == environment.end()) throw ModelError("unknown name '" + name + "'");
    return found->second;
  }
  const std::int64_t left = a->evaluate(environment);
  // A guard such as `B != 0 and A % B == 0` must not evaluate what it guards against.
  if (op == ExpressionOp::logical_and && left == 0) return 0;
  if (op == ExpressionOp::logical_or && left != 0) return 1;
  return operated(op, left, b != nullptr ? b->evaluate(environment) : 0);
}

int Expression::Node::precedence() const {
  return is_leaf(op) ? kAtomPrecedence : facts_of(op).precedence;
}

void Expression::Node::print(Dialect dialect, std::string& text) const {
  if (op == ExpressionOp::variable) {
    text += name;
  } else if (op == ExpressionOp::number) {
    const std::string digits = std::to_string(value);
    text += value < 0 ? "(" + digits + ")" : digits;
  } else if (op == ExpressionOp::negate) {
    text += '-';
    print_child(*a, 7, dialect, text);
  } else if (op == ExpressionOp::logical_not) {
    text += dialect == Dialect::opencl ? "!(" : "not (";
    a->print(dialect, text);
    text += ')';
  } else if (is_call(op)) {
    print_call(*this, dialect, text);
  } else {
    const bool is_and = op == ExpressionOp::logical_and;
    const bool is_word = is_and || op == ExpressionOp::logical_or;
    // Left-associative: a right operand of the same precedence needs parentheses.
    print_child(*a, precedence(), dialect, text);
    text += ' ';
    text += dialect == Dialect::opencl && is_word ? (is_and ? "&&" : "||") : facts_of(op).text;
    text += ' ';
    print_child(*b, precedence() + 1, dialect, text);
  }
}

void Expression::Node::collect(std::set<std::string>& names) const {
  if (op == ExpressionOp::variable) names.insert(name);
  if (a != nullptr) a->collect(names);
  if (b != nullptr) b->collect(names);
}

bool Expression::Node::equals(const Node& other) const {
  if (this == &other) return true;
  if (op != other.op || value != other.value || name != other.name) return false;
  if (is_leaf(op)) return true;
  return a->equals(*other.a) && (b == nullptr || b->equals(*other.b));
}

Expression::Expression() : Expression(std::int64_t{0}) {}

Expression::Expression(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->value = value;
  node_ = std::move(node);
}

Expression Expression::variable(std::string name) {
  auto node = std::make_shared<Node>();
  node->op = ExpressionOp::variable;
  node->name = std::move(name);
  return Expression(std::shared_ptr<const Node>(std::move(node)));
}

bool Expression::is_constant(std::int64_t* value) const {
  if (node_->op != ExpressionOp::number) return false;
  if (value != nullptr) *value = node_->value;
  return true;
}

Expression Expression::make(ExpressionOp op, const Expression& a, const Expression& b) {
  using Op = ExpressionOp;
  std::int64_t x = 0;
  std::int64_t y = 0;
  const bool constant_a = a.is_constant(&x);
  const bool constant_b = is_unary(op) || b.is_constant(&y);
  // A division by a constant zero stays in the tree, so that evaluating it reports it with its
  // text.
  const bool rounds_up = op == Op::ceil_div || op == Op::round_up;
  const bool divides = op == Op::divide || op == Op::remainder || rounds_up;
  if (constant_a && constant_b && !(divides && y <= 0)) return {operated(op, x, y)};
  if (op == Op::add && constant_a && x == 0) return b;
  if ((op == Op::add || op == Op::subtract) && constant_b && y == 0) return a;
  if (op == Op::multiply && ((constant_a && x == 0) || (constant_b && y == 0))) return {0};
  if (op == Op::multiply && constant_a && x == 1) return b;
  if ((op == Op::multiply || op == Op::divide || rounds_up) && constant_b && y == 1) return a;
  if (op == Op::remainder && constant_b && y == 1) return {0};
  if ((op == Op::divide || op == Op::remainder) && constant_a && x == 0) return {0};
  auto node = std::make_shared<Node>();
  node->op = op;
  node->a = a.node_;
  if (!is_unary(op)) node->b = b.node_;
  return Expression(std::shared_ptr<const Node>(std::move(node)));
}

Expression operator+(const Expression& a, const Expression& b) {
  return Expression::make(ExpressionOp::add, a, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return Expression::make(ExpressionOp::subtract, a, b);
}
Expression operator*(const Expression& a, const Expression& b) {
  return Expression::make(ExpressionOp::multiply, a, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  return Expression::make(ExpressionOp::divide, a, b);
}
Expression operator%(const Expression& a, const Expression& b) {
  return Expression::make(ExpressionOp::remainder, a, b);
}
bool operator==(const Expression& a, const Expression& b) { return a.node_->equals(*b.node_); }

std::int64_t Expression::evaluate(const Environment& environment) const {
  try {
    return node_->evaluate(environment);
  } catch (const ModelError& error) {
    throw ModelError("expression '" + print() + "': " + error.what());
  }
}

Expression Expression::substitute(const std::map<std::string, Expression>& replacements) const {
  if (node_->op == ExpressionOp::number) return *this;
  if (node_->op == ExpressionOp::variable) {
    const auto found = replacements.find(node_->name);
    return found == replacements.end() ? *this : found->second;
  }
  const Expression a = Expression(node_->a).substitute(replacements);
  const Expression b =
      node_->b != nullptr ? Expression(node_->b).substitute(replacements) : Expression(a);
  // What none of them is in is simple already.
  if (a.node_ == node_->a && (node_->b == nullptr || b.node_ == node_->b)) return *this;
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
  using Op = ExpressionOp;
  const Op op = node_->op;
  if (op != Op::add && op != Op::subtract && op != Op::multiply && op != Op::negate) {
    return std::nullopt;
  }
  const Expression a(node_->a);
  const Expression b = is_unary(op) ? Expression() : Expression(node_->b);
  if (op == Op::multiply) {
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

std::string Expression::print() const {
  std::string text;
  node_->print(Dialect::morton, text);
  return text;
}

std::string Expression::to_opencl() const {
  std::string text;
  node_->print(Dialect::opencl, text);
  return text;
}

}  // namespace morton
