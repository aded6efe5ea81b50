// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace morton {

/// What a node of an expression is: an operator, or one of the two leaves.
enum class ExpressionOp : std::uint8_t {
  logical_or,
  logical_and,
  logical_not,
  equal,
  not_equal,
  less_equal,
  greater_equal,
  less,
  greater,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  negate,
  min,
  max,
  ceil_div,
  round_up,
  number,    ///< a leaf
  variable,  ///< a leaf
};

/// An operator of Expression's grammar.
struct ExpressionOperator {
  ExpressionOp op;
  std::string_view text;
  int precedence;  ///< higher binds tighter
};

/// Precedence of what needs no parentheses: functions, numbers and names.
inline constexpr int kAtomPrecedence = 8;

/// In the order of ExpressionOp, the functions last; no text comes after one that it begins with.
inline constexpr std::array<ExpressionOperator, 19> kExpressionOperators{{
    {ExpressionOp::logical_or, "or", 1},
    {ExpressionOp::logical_and, "and", 2},
    {ExpressionOp::logical_not, "not", 3},
    {ExpressionOp::equal, "==", 4},
    {ExpressionOp::not_equal, "!=", 4},
    {ExpressionOp::less_equal, "<=", 4},
    {ExpressionOp::greater_equal, ">=", 4},
    {ExpressionOp::less, "<", 4},
    {ExpressionOp::greater, ">", 4},
    {ExpressionOp::add, "+", 5},
    {ExpressionOp::subtract, "-", 5},
    {ExpressionOp::multiply, "*", 6},
    {ExpressionOp::divide, "/", 6},
    {ExpressionOp::remainder, "%", 6},
    {ExpressionOp::negate, "neg", 7},
    {ExpressionOp::min, "min", kAtomPrecedence},
    {ExpressionOp::max, "max", kAtomPrecedence},
    {ExpressionOp::ceil_div, "ceil_div", kAtomPrecedence},
    {ExpressionOp::round_up, "round_up", kAtomPrecedence},
}};

/// Of an operator, not of a leaf.
[[nodiscard]] constexpr const ExpressionOperator& facts_of(ExpressionOp op) {
  return kExpressionOperators[static_cast<std::size_t>(op)];
}

[[nodiscard]] constexpr bool is_leaf(ExpressionOp op) { return op >= ExpressionOp::number; }

[[nodiscard]] constexpr bool is_unary(ExpressionOp op) {
  return op == ExpressionOp::logical_not || op == ExpressionOp::negate;
}

/// Whether `op` is one of the functions of two arguments.
[[nodiscard]] constexpr bool is_call(ExpressionOp op) {
  return op >= ExpressionOp::min && op <= ExpressionOp::round_up;
}

}  // namespace morton
