// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/algebra/expression_node.hpp"

namespace morton {
namespace {

using Bounds = std::map<std::string, std::int64_t>;

/// A variable, or a number where there is none, times a factor.
struct Term {
  std::int64_t factor = 1;
  const Expression::Node* variable = nullptr;
};

/// Appends the terms of a sum of bounded variables with positive factors; false where it is
/// something else.
bool append_terms(const Expression::Node& node, std::int64_t factor, const Bounds& below,
                  std::vector<Term>& terms) {
  using Op = ExpressionOp;
  const bool positive = factor > 0;
  switch (node.op) {
    case Op::number:
      if (node.value < 0) return false;
      if (node.value > 0) terms.push_back({factor * node.value, nullptr});
      return positive;
    case Op::variable:
      terms.push_back({factor, &node});
      return positive && below.contains(node.name);
    case Op::add:
      return append_terms(*node.a, factor, below, terms) &&
             append_terms(*node.b, factor, below, terms);
    case Op::multiply: {
      const bool left = node.a->op == Op::number;
      if (!left && node.b->op != Op::number) return false;
      const std::int64_t times = left ? node.a->value : node.b->value;
      constexpr std::int64_t kMost = std::int64_t{1} << 24;
      if (times <= 0 || times > kMost || factor > kMost) return false;
      return append_terms(left ? *node.b : *node.a, factor * times, below, terms);
    }
    default:
      return false;
  }
}

/// The most that the terms' sum can be; none where one of them has no known bound.
std::optional<std::int64_t> greatest(const std::vector<Term>& terms, const Bounds& below) {
  std::int64_t sum = 0;
  for (const Term& term : terms) {
    if (term.variable == nullptr) {
      sum += term.factor;
      continue;
    }
    const std::int64_t bound = below.at(term.variable->name);
    if (bound <= 0) return std::nullopt;
    sum += term.factor * (bound - 1);
  }
  return sum;
}

Expression sum_of(const std::vector<Term>& terms, std::int64_t divisor) {
  Expression sum(0);
  for (const Term& term : terms) {
    const Expression factor(term.factor / divisor);
    sum = sum +
          (term.variable == nullptr ? factor : Expression::variable(term.variable->name) * factor);
  }
  return sum;
}

}  // namespace

bool Expression::is_linear_in(const std::string& name) const {
  using Op = ExpressionOp;
  if (is_leaf(node_->op) || !variables().contains(name)) return true;
  const Expression a(node_->a);
  if (node_->op == Op::negate) return a.is_linear_in(name);
  if (is_unary(node_->op)) return false;
  const Expression b(node_->b);
  const bool both = a.is_linear_in(name) && b.is_linear_in(name);
  if (node_->op == Op::add || node_->op == Op::subtract) return both;
  const bool once = !a.variables().contains(name) || !b.variables().contains(name);
  return node_->op == Op::multiply && once && both;
}

Expression Expression::reduced(const Bounds& below) const {
  if (is_leaf(node_->op)) return *this;
  const Expression a = Expression(node_->a).reduced(below);
  if (is_unary(node_->op)) return make(node_->op, a, Expression());
  const Expression b = Expression(node_->b).reduced(below);
  const Expression whole = make(node_->op, a, b);
  const bool divides = node_->op == ExpressionOp::divide || node_->op == ExpressionOp::remainder;
  std::int64_t divisor = 0;
  std::vector<Term> terms;
  if (!divides || !b.is_constant(&divisor) || divisor < 1) return whole;
  if (!append_terms(*a.node_, 1, below, terms)) return whole;
  std::vector<Term> multiples, rest;
  for (const Term& term : terms) {
    (term.factor % divisor == 0 ? multiples : rest).push_back(term);
  }
  const auto most = greatest(rest, below);
  const bool is_small = most && *most < divisor;
  if (node_->op == ExpressionOp::divide) return is_small ? sum_of(multiples, divisor) : whole;
  return is_small ? sum_of(rest, 1) : make(node_->op, sum_of(rest, 1), b);
}

}  // namespace morton
