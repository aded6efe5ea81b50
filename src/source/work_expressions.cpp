// SPDX-License-Identifier: Apache-2.0
//
// Expressions as values of a work program.
#include "base/algebra/expression_node.hpp"
#include "base/error.hpp"
#include "source/work_nodes.hpp"

namespace morton::source {

WorkNodeId WorkNodes::of(const Expression& expression,
                         const std::map<std::string, WorkNodeId>& named, const Environment& sizes) {
  return of(expression.root(), named, sizes);
}

WorkNodeId WorkNodes::of(const Expression::Node& node,
                         const std::map<std::string, WorkNodeId>& named, const Environment& sizes) {
  if (node.op == ExpressionOp::number) return whole(node.value);
  if (node.op == ExpressionOp::variable) {
    const auto value = named.find(node.name);
    if (value != named.end()) return value->second;
    const auto size = sizes.find(node.name);
    if (size == sizes.end()) throw InternalError("source: nothing is known as " + node.name);
    return whole(size->second);
  }
  const WorkNodeId a = of(*node.a, named, sizes);
  const WorkNodeId b = node.b == nullptr ? a : of(*node.b, named, sizes);
  const auto truth = [&](WorkNodeId id) { return negated(equal(id, whole(0))); };
  switch (node.op) {
    case ExpressionOp::add:
      return add(a, b);
    case ExpressionOp::subtract:
      return subtract(a, b);
    case ExpressionOp::multiply:
      return multiply(a, b);
    case ExpressionOp::divide:
      return divide(a, b);
    case ExpressionOp::remainder:
      return remainder(a, b);
    case ExpressionOp::negate:
      return subtract(whole(0), a);
    case ExpressionOp::min:
      return least(a, b);
    case ExpressionOp::max:
      return most(a, b);
    case ExpressionOp::equal:
      return equal(a, b);
    case ExpressionOp::not_equal:
      return negated(equal(a, b));
    case ExpressionOp::less:
      return less(a, b);
    case ExpressionOp::less_equal:
      return less_equal(a, b);
    case ExpressionOp::greater:
      return less(b, a);
    case ExpressionOp::greater_equal:
      return less_equal(b, a);
    case ExpressionOp::logical_and:
      return both(truth(a), truth(b));
    case ExpressionOp::logical_or:
      return either(truth(a), truth(b));
    case ExpressionOp::logical_not:
      return equal(a, whole(0));
    case ExpressionOp::ceil_div:
      return divide(add(a, add(b, whole(-1))), b);
    case ExpressionOp::round_up:
      return multiply(divide(add(a, add(b, whole(-1))), b), b);
    case ExpressionOp::number:
    case ExpressionOp::variable:
      break;
  }
  throw InternalError("source: an expression without a meaning");
}

}  // namespace morton::source
