// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/monomial.hpp"

#include <algorithm>
#include <iterator>

#include "base/algebra/expression_node.hpp"

namespace morton {

Monomial Monomial::of(const Expression& product) {
  Monomial result;
  const auto& node = product.root();
  if (product.is_constant(&result.number)) return result;
  if (node.op == ExpressionOp::multiply) {
    return of(Expression::of_node(node.a)).times(of(Expression::of_node(node.b)));
  }
  const bool is_name = node.op == ExpressionOp::variable;
  result.factors.push_back(is_name ? node.name : "(" + product.to_opencl() + ")");
  return result;
}

Monomial Monomial::times(const Monomial& other) const {
  Monomial result{number * other.number, factors};
  result.factors.insert(result.factors.end(), other.factors.begin(), other.factors.end());
  std::ranges::sort(result.factors);
  return result;
}

std::optional<Monomial> Monomial::over(const Monomial& other) const {
  const bool divides = other.number != 0 && number % other.number == 0 &&
                       std::ranges::includes(factors, other.factors);
  if (!divides) return std::nullopt;
  Monomial result{number / other.number, {}};
  std::ranges::set_difference(factors, other.factors, std::back_inserter(result.factors));
  return result;
}

std::string Monomial::text() const {
  std::string text = number == 1 && !factors.empty() ? "" : "(" + std::to_string(number) + ")";
  for (const auto& factor : factors) text += (text.empty() ? "" : " * ") + factor;
  return text;
}

}  // namespace morton
