// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "base/algebra/expression.hpp"
#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

std::int64_t value_of(const std::string& text, const Environment& environment = {}) {
  return Expression::parse(text, "test").evaluate(environment);
}

std::string error_of(const std::string& text) {
  try {
    (void)value_of(text);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(Expression, FollowsPrecedence) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("20 / 3 * 3"), 18);
  EXPECT_EQ(value_of("10 - 3 - 4"), 3);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("1 + 1 == 2 and 3 < 2 or not 0"), 1);
  EXPECT_EQ(value_of("not 1 == 2"), 1);
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 2"), -1);
}

TEST(Expression, CallsFunctions) {
  EXPECT_EQ(value_of("ceil_div(17, 8)"), 3);
  EXPECT_EQ(value_of("ceil_div(16, 8)"), 2);
  EXPECT_EQ(value_of("round_up(63, 32)"), 64);
  EXPECT_EQ(value_of("round_up(0, 32)"), 0);
  EXPECT_EQ(value_of("min(3, max(1, 2))"), 2);
}

TEST(Expression, ReadsNames) {
  const Environment environment{{"M", 17}, {"device.units", 4}, {"and_then", 2}};
  EXPECT_EQ(value_of("M * device.units + and_then", environment), 70);
  EXPECT_NE(error_of("M + 1").find("unknown name 'M'"), std::string::npos);
}

TEST(Expression, RefusesBadText) {
  for (const char* text : {"", "1 +", "(1", "1)", "min(1)", "min 1, 2", "1 2",
                           "9223372036854775808", "3x", "a &&& b", "ceil_div(1,2,3)"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
  EXPECT_NE(error_of("1 + * 2").find("character 5"), std::string::npos) << error_of("1 + * 2");
  EXPECT_NE(error_of(std::string(10000, '(')), "");
  EXPECT_NE(error_of(std::string(10000, '-') + "1"), "");
  std::string nots;
  for (int i = 0; i < 100000; ++i) nots += "not ";
  EXPECT_NE(error_of(nots + "1"), "");
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i) sum += "+a";
  EXPECT_NE(error_of(sum), "");
}

TEST(Expression, ReportsOverflowAndDivisionByZero) {
  EXPECT_NE(error_of("9223372036854775807 + 1"), "");
  EXPECT_NE(error_of("4611686018427387904 * 2"), "");
  EXPECT_NE(error_of("(-9223372036854775807 - 1) / -1"), "");
  EXPECT_NE(error_of("-(-9223372036854775807 - 1)"), "");
  EXPECT_NE(error_of("1 / 0"), "");
  EXPECT_NE(error_of("1 % 0"), "");
  EXPECT_NE(error_of("ceil_div(1, 0)"), "");
  EXPECT_NE(error_of("ceil_div(-1, 2)"), "");
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1"), 0);
}

TEST(Expression, GuardsStopEvaluation) {
  EXPECT_EQ(value_of("B != 0 and A % B == 0", {{"A", 4}, {"B", 0}}), 0);
  EXPECT_EQ(value_of("B == 0 or A % B == 0", {{"A", 4}, {"B", 0}}), 1);
}

TEST(Expression, SubstitutesAndSimplifies) {
  const auto n = Expression::variable("n");
  EXPECT_EQ((n * 1 + 0).print(), "n");
  EXPECT_EQ((n / 1).print(), "n");
  EXPECT_EQ((n % 1).print(), "0");
  EXPECT_EQ((n * 0).print(), "0");
  EXPECT_EQ((Expression(2) * Expression(3)).print(), "6");
  const auto replaced = Expression::parse("a * b + c", "test").substitute({{"a", n}, {"b", 1}});
  EXPECT_EQ(replaced.print(), "n + c");
  std::int64_t value = 0;
  EXPECT_TRUE(replaced.substitute({{"n", 2}, {"c", 3}}).is_constant(&value));
  EXPECT_EQ(value, 5);
  EXPECT_EQ(replaced.variables(), (std::set<std::string>{"c", "n"}));
}

/// A random expression over a, b, c.
std::string random_text(std::mt19937& generator, int depth) {
  const auto pick = [&](unsigned n) { return generator() % n; };
  if (depth == 0 || pick(5) == 0) {
    return pick(2) == 0 ? std::string(1, static_cast<char>('a' + pick(3)))
                        : std::to_string(pick(9));
  }
  constexpr const char* kBinary[] = {"+", "-", "*", "/", "%", "<", "<=", "==", "!=", "and", "or"};
  constexpr const char* kCalls[] = {"min", "max"};
  const std::string left = random_text(generator, depth - 1);
  const std::string right = random_text(generator, depth - 1);
  switch (pick(4)) {
    case 0:
      return "-(" + left + ")";
    case 1:
      return std::string(kCalls[pick(2)]) + "(" + left + ", " + right + ")";
    default:
      return "(" + left + ") " + kBinary[pick(11)] + " (" + right + ")";
  }
}

TEST(Expression, PrintsWhatItReads) {
  constexpr unsigned kSeed = 20240501;
  std::mt19937 generator(kSeed);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(generator, 4);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i) + ": " + text);
    Expression parsed;
    try {
      parsed = Expression::parse(text, "test");
    } catch (const ModelError&) {
      continue;  // a constant part divides by zero
    }
    const Expression again = Expression::parse(parsed.print(), "test");
    EXPECT_EQ(again.print(), parsed.print());
    const Environment environment{{"a", 3}, {"b", 17}, {"c", 1}};
    std::int64_t expected = 0;
    try {
      expected = parsed.evaluate(environment);
    } catch (const ModelError&) {
      continue;
    }
    EXPECT_EQ(again.evaluate(environment), expected);
  }
}

TEST(Expression, WritesOpenCl) {
  EXPECT_EQ(Expression::parse("a and not b or c", "test").to_opencl(), "a && !(b) || c");
  EXPECT_EQ(Expression::parse("ceil_div(a + 1, 4)", "test").to_opencl(), "(((a + 1) + 4 - 1) / 4)");
  EXPECT_EQ(Expression::parse("a - (b - c)", "test").to_opencl(), "a - (b - c)");
}

TEST(Expression, TakesTheTermsOfOneVariableOutOfASum) {
  const auto terms = [](const char* text) {
    const auto found = Expression::parse(text, "test").terms_with("p", {"k", "q"});
    return found ? found->print() : "none";
  };
  EXPECT_EQ(terms("p%OW*SW + k%KW - PL"), "p % OW * SW");
  EXPECT_EQ(terms("(p/OW + k/KW - PT) * W + (p%OW + k)"), "p / OW * W + p % OW");
  EXPECT_EQ(terms("W * (k - p)"), "W * (0 - p)");
  EXPECT_EQ(terms("-(p + k)"), "-p");
  EXPECT_EQ(terms("p/OW + 3"), "p / OW + 3");
  EXPECT_EQ(terms("k*W + 3"), "0");
  EXPECT_EQ(terms("(p + k)/4"), "none");
  EXPECT_EQ(terms("p*k"), "none");
  EXPECT_EQ(terms("q + (p - k)*(p + 1)"), "none");
}

/// `lane` is below 16, `part` below 4; of `block` and `row` nothing is known.
const std::map<std::string, std::int64_t> kBelow{
    {"lane", 16}, {"part", 4}, {"block", 0}, {"row", 0}};

std::string reduced(const std::string& text) {
  return Expression::parse(text, "test").reduced(kBelow).print();
}

TEST(ReducedExpression, DropsDivisionsThatTheBoundsSpare) {
  EXPECT_EQ(reduced("(block * 16 + lane) / 16"), "block");
  EXPECT_EQ(reduced("(block * 16 + lane) % 16"), "lane");
  EXPECT_EQ(reduced("(block * 16 + lane) / 16 * 64 + (block * 16 + lane) % 16"),
            "block * 64 + lane");
  EXPECT_EQ(reduced("(block * 64 + part * 16 + lane) / 16"), "block * 4 + part");
  EXPECT_EQ(reduced("(block * 64 + part * 16 + lane) % 64"), "part * 16 + lane");
  EXPECT_EQ(reduced("(block * 16 + 3) / 16"), "block");
}

TEST(ReducedExpression, KeepsThoseThatItMust) {
  // Eight of the sixteen lanes lie in the next block of eight.
  EXPECT_EQ(reduced("(block * 16 + lane) / 8"), "(block * 16 + lane) / 8");
  EXPECT_EQ(reduced("(block * 16 + lane) % 8"), "lane % 8");
  EXPECT_EQ(reduced("(block * 16 + row) / 16"), "(block * 16 + row) / 16");
  EXPECT_EQ(reduced("(block * 16 + 20) / 16"), "(block * 16 + 20) / 16");
  EXPECT_EQ(reduced("(block * 16 - lane) / 16"), "(block * 16 - lane) / 16");
  EXPECT_EQ(reduced("(block * W + lane) / 16"), "(block * W + lane) / 16");
}

TEST(ReducedExpression, HasTheSameValue) {
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(below));
  };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t factors[] = {1, 2, 4, 8, 16, 32, 48, 64};
    const auto factor = [&] { return std::to_string(factors[pick(8)]); };
    const std::string sum = "(block * " + factor() + " + part * " + factor() + " + lane * " +
                            factor() + " + " + std::to_string(pick(20)) + ")";
    const Expression whole =
        Expression::parse(sum + " / " + factor() + " * 100 + " + sum + " % " + factor(), "test");
    const Environment at{{"block", pick(9)}, {"part", pick(4)}, {"lane", pick(16)}};
    ASSERT_EQ(whole.reduced(kBelow).evaluate(at), whole.evaluate(at)) << whole.print();
  }
}

TEST(ReducedExpression, KnowsWhatIsLinear) {
  const auto linear = [](const std::string& text) {
    return Expression::parse(text, "test").is_linear_in("i");
  };
  EXPECT_TRUE(linear("i * W + j / 16"));
  EXPECT_TRUE(linear("(i + 3) * (W * H) - i"));
  EXPECT_TRUE(linear("j % 2"));
  EXPECT_FALSE(linear("i / 2"));
  EXPECT_FALSE(linear("i % 2 * 58 + j"));
  EXPECT_FALSE(linear("i * i"));
  EXPECT_FALSE(linear("min(i, 4)"));
}

}  // namespace
}  // namespace morton::test
