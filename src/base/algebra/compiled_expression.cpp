// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/compiled_expression.hpp"

#include <algorithm>
#include <array>

#include "base/algebra/expression_node.hpp"

namespace morton {
namespace {

/// Expressions of catalogues stay far below.
constexpr std::size_t kDeepestStack = 64;

std::int64_t place_of_name(const std::string& name, ValueNames& names) {
  const auto found = std::ranges::find(names, name);
  const auto place = found - names.begin();
  if (found == names.end()) names.push_back(name);
  return place;
}

}  // namespace

CompiledExpression::CompiledExpression(const Expression& expression, ValueNames& names) {
  compile(*expression.node_, names);
}

void CompiledExpression::push(Instruction instruction) {
  code_.push_back(instruction);
  most_ = std::max(most_, ++depth_);
}

void CompiledExpression::compile(const Expression::Node& node, ValueNames& names) {
  if (node.op == ExpressionOp::number) return push({node.op, node.value});
  if (node.op == ExpressionOp::variable) return push({node.op, place_of_name(node.name, names)});
  compile(*node.a, names);
  const bool skips = node.op == ExpressionOp::logical_and || node.op == ExpressionOp::logical_or;
  const std::size_t guard = code_.size();
  if (skips) {
    code_.push_back({node.op});
    --depth_;
  }
  if (node.b != nullptr) compile(*node.b, names);
  if (skips) {
    // What is left of both is the truth of the right one.
    push({ExpressionOp::number, 0});
    code_.push_back({ExpressionOp::not_equal});
    code_[guard].operand = static_cast<std::int64_t>(code_.size());
  } else {
    code_.push_back({node.op});
  }
  if (node.b != nullptr) --depth_;
}

std::optional<std::int64_t> CompiledExpression::evaluate(
    std::span<const std::int64_t> values) const {
  if (most_ > kDeepestStack) return std::nullopt;
  std::array<std::int64_t, kDeepestStack> stack;
  std::size_t top = 0;  // behind the last
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const Instruction& next = code_[i];
    switch (next.op) {
      case ExpressionOp::number:
        stack[top++] = next.operand;
        continue;
      case ExpressionOp::variable:
        stack[top++] = values[static_cast<std::size_t>(next.operand)];
        continue;
      case ExpressionOp::logical_and:
      case ExpressionOp::logical_or: {
        const bool truth = stack[top - 1] != 0;
        const bool decided = truth == (next.op == ExpressionOp::logical_or);
        if (decided) {
          stack[top - 1] = truth ? 1 : 0;
          i = static_cast<std::size_t>(next.operand) - 1;
        } else {
          --top;
        }
        continue;
      }
      default:
        break;
    }
    const bool unary = is_unary(next.op);
    const std::int64_t b = unary ? 0 : stack[--top];
    const auto value = value_of(next.op, stack[top - 1], b);
    if (!value) return std::nullopt;
    stack[top - 1] = *value;
  }
  return stack[0];
}

}  // namespace morton
