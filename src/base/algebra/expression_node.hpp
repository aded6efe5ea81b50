// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/algebra/expression.hpp"
#include "base/algebra/expression_operators.hpp"

namespace morton {

/// One node of the tree: a number, a variable or an operation.
struct Expression::Node {
  using Pointer = std::shared_ptr<const Node>;
  enum class Dialect : std::uint8_t { morton, opencl };

  ExpressionOp op = ExpressionOp::number;
  std::int64_t value = 0;  ///< of a number
  std::string name;        ///< of a variable
  Pointer a, b;            ///< of an operation; b is null for a unary one

  [[nodiscard]] std::int64_t evaluate(const Environment& environment) const;
  /// Appends its text.
  void print(Dialect dialect, std::string& text) const;
  [[nodiscard]] int precedence() const;
  void collect(std::set<std::string>& names) const;
  [[nodiscard]] bool equals(const Node& other) const;
};

/// The value of an operation on numbers; none where it has none or it does not fit 64 bits.
[[nodiscard]] inline std::optional<std::int64_t> value_of(ExpressionOp op, std::int64_t a,
                                                          std::int64_t b) {
  std::int64_t result = 0;
  const auto whole = [&](bool overflows) {
    return overflows ? std::nullopt : std::optional(result);
  };
  switch (op) {
    case ExpressionOp::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    case ExpressionOp::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case ExpressionOp::logical_not:
      return a == 0 ? 1 : 0;
    case ExpressionOp::equal:
      return a == b ? 1 : 0;
    case ExpressionOp::not_equal:
      return a != b ? 1 : 0;
    case ExpressionOp::less_equal:
      return a <= b ? 1 : 0;
    case ExpressionOp::greater_equal:
      return a >= b ? 1 : 0;
    case ExpressionOp::less:
      return a < b ? 1 : 0;
    case ExpressionOp::greater:
      return a > b ? 1 : 0;
    case ExpressionOp::add:
      return whole(__builtin_add_overflow(a, b, &result));
    case ExpressionOp::subtract:
      return whole(__builtin_sub_overflow(a, b, &result));
    case ExpressionOp::multiply:
      return whole(__builtin_mul_overflow(a, b, &result));
    case ExpressionOp::negate:
      return whole(__builtin_mul_overflow(a, -1, &result));
    case ExpressionOp::divide:
      if (b == 0) return std::nullopt;
      if (b == -1) return whole(__builtin_mul_overflow(a, -1, &result));
      return a / b;
    case ExpressionOp::remainder:
      if (b == 0) return std::nullopt;
      return b == -1 ? 0 : a % b;
    case ExpressionOp::min:
      return a < b ? a : b;
    case ExpressionOp::max:
      return a > b ? a : b;
    case ExpressionOp::ceil_div:
    case ExpressionOp::round_up: {
      if (b <= 0 || a < 0) return std::nullopt;
      const std::int64_t quotient = a / b + (a % b != 0 ? 1 : 0);
      if (op == ExpressionOp::ceil_div) return quotient;
      return whole(__builtin_mul_overflow(quotient, b, &result));
    }
    case ExpressionOp::number:
    case ExpressionOp::variable:
      break;
  }
  return std::nullopt;
}

}  // namespace morton
