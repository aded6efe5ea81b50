// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"

namespace morton {

/// The names of an array of values, each once.
using ValueNames = std::vector<std::string>;

/// An expression in the form in which it is evaluated fastest: for one that is evaluated for
/// thousands of problems. Its names are places in an array of values.
class CompiledExpression {
 public:
  /// Adds the expression's names to `names`.
  CompiledExpression(const Expression& expression, ValueNames& names);

  /// The value, where `values[i]` is that of the name i; none where Expression::evaluate would
  /// throw, which says why.
  [[nodiscard]] std::optional<std::int64_t> evaluate(std::span<const std::int64_t> values) const;

 private:
  /// An operation on the top of a stack; of a leaf `operand` is the number or the place, of `and`
  /// and `or` the instruction behind the right operand.
  struct Instruction {
    ExpressionOp op;
    std::int64_t operand = 0;
  };
  void compile(const Expression::Node& node, ValueNames& names);
  void push(Instruction instruction);

  std::vector<Instruction> code_;
  std::size_t depth_ = 0, most_ = 0;  ///< of the stack
};

}  // namespace morton
