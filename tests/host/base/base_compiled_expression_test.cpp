// SPDX-License-Identifier: Apache-2.0
//
// Compiled expressions give what Expression::evaluate gives.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/algebra/compiled_expression.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

const Environment kCompiledNames{{"A", 7}, {"B", 0}, {"C", -3}, {"M", 120}};

std::optional<std::int64_t> compiled_value(const Expression& expression) {
  ValueNames names;
  const CompiledExpression compiled(expression, names);
  std::vector<std::int64_t> values;
  for (const std::string& name : names) values.push_back(kCompiledNames.at(name));
  return compiled.evaluate(values);
}

std::optional<std::int64_t> tree_value(const Expression& expression) {
  try {
    return expression.evaluate(kCompiledNames);
  } catch (const ModelError&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> compiled_value(const std::string& text) {
  return compiled_value(Expression::parse(text, "test"));
}

TEST(CompiledExpression, FollowsTheTree) {
  EXPECT_EQ(compiled_value("A + M * 2 - C"), 250);
  EXPECT_EQ(compiled_value("ceil_div(M, A) * A"), 126);
  EXPECT_EQ(compiled_value("round_up(M, 16) == 128 and not B"), 1);
  EXPECT_EQ(compiled_value("-C % 2"), 1);
  EXPECT_EQ(compiled_value("42"), 42);
}

TEST(CompiledExpression, DoesNotEvaluateWhatAGuardKeepsOut) {
  EXPECT_EQ(compiled_value("B != 0 and A % B == 0"), 0);
  EXPECT_EQ(compiled_value("B == 0 or A % B == 0"), 1);
  EXPECT_EQ(compiled_value("(B != 0 and A % B == 0) + A"), 7);
  EXPECT_EQ(compiled_value("A and M"), 1);
  EXPECT_EQ(compiled_value("B or C"), 1);
}

TEST(CompiledExpression, HasNoValueWhereEvaluatingThrows) {
  EXPECT_EQ(compiled_value("A / B"), std::nullopt);
  EXPECT_EQ(compiled_value("A % B"), std::nullopt);
  EXPECT_EQ(compiled_value("ceil_div(C, A)"), std::nullopt);
  EXPECT_EQ(compiled_value("round_up(A, B)"), std::nullopt);
  EXPECT_EQ(compiled_value("9223372036854775807 + A"), std::nullopt);
  EXPECT_EQ(compiled_value("-9223372036854775807 - A"), std::nullopt);
  EXPECT_EQ(compiled_value("4611686018427387904 * A"), std::nullopt);
}

TEST(CompiledExpression, SharesTheNamesOfOthers) {
  ValueNames names;
  const CompiledExpression first(Expression::parse("A + B", "test"), names);
  const CompiledExpression second(Expression::parse("B * C + B", "test"), names);
  EXPECT_EQ(names, (ValueNames{"A", "B", "C"}));
  const std::vector<std::int64_t> values{1, 2, 3};
  EXPECT_EQ(first.evaluate(values), 3);
  EXPECT_EQ(second.evaluate(values), 8);
}

/// An expression of up to `depth` levels.
std::string text_to_compile(std::mt19937& random, int depth) {
  const std::vector<std::string> leaves{"A", "B", "C", "M", "0", "1", "3", "65536"};
  if (depth == 0 || random() % 4 == 0) return leaves[random() % leaves.size()];
  const std::string a = text_to_compile(random, depth - 1);
  const std::string b = text_to_compile(random, depth - 1);
  const std::vector<std::string> between{
      "+", "-", "*", "/", "%", "==", "!=", "<=", ">=", "<", ">", "and", "or"};
  const std::vector<std::string> calls{"min", "max", "ceil_div", "round_up"};
  switch (random() % 4) {
    case 0:
      return calls[random() % calls.size()] + "(" + a + ", " + b + ")";
    case 1:
      return random() % 2 == 0 ? "(-(" + a + "))" : "(not (" + a + "))";
    default:
      return "((" + a + ") " + between[random() % between.size()] + " (" + b + "))";
  }
}

TEST(CompiledExpression, AgreesOnRandomExpressions) {
  const unsigned seed = 17;
  std::mt19937 random(seed);
  int with_value = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = text_to_compile(random, 4);
    std::optional<Expression> expression;
    try {
      expression = Expression::parse(text, "test");
    } catch (const ModelError&) {
      continue;  // numbers alone that overflow
    }
    const auto expected = tree_value(*expression);
    ASSERT_EQ(compiled_value(*expression), expected) << text << ", seed " << seed;
    with_value += expected ? 1 : 0;
  }
  EXPECT_GT(with_value, 1000);
}

}  // namespace
}  // namespace morton::test
