// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace morton {

/// An operator of Expression's grammar.
struct ExpressionOperator {
  std::string_view text;
  int precedence;  ///< higher binds tighter
};

/// All but the functions; no text comes after one that it begins with.
inline constexpr std::array<ExpressionOperator, 15> kExpressionOperators{{
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

/// Whether `op` is one of the functions of two arguments.
[[nodiscard]] constexpr bool is_call(std::string_view op) {
  return op == "min" || op == "max" || op == "ceil_div" || op == "round_up";
}

}  // namespace morton
