// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "ops/core/operator.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

const char* const kCases = MORTON_SOURCE_DIR "/tests/cases";

TEST(Cases, ReadALine) {
  const OperatorCase test =
      parse_case("Gemm",
                 " c1 | 3x17 17x63! - | transA=1 alpha=0.5 pads=[1,-2] auto_pad=VALID | "
                 "Add(63!) Relu | small opset=12",
                 "f:1");
  EXPECT_EQ(test.name, "c1");
  ASSERT_EQ(test.inputs.size(), 3U);
  EXPECT_EQ(test.inputs[0].shape, (Shape{3, 17}));
  EXPECT_EQ(test.inputs[1].kind, CaseInput::Kind::constant);
  EXPECT_EQ(test.inputs[2].kind, CaseInput::Kind::absent);
  EXPECT_EQ(std::get<std::int64_t>(test.attributes.at("transA")), 1);
  EXPECT_EQ(std::get<double>(test.attributes.at("alpha")), 0.5);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(test.attributes.at("pads")),
            (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(std::get<std::string>(test.attributes.at("auto_pad")), "VALID");
  ASSERT_EQ(test.then.size(), 2U);
  EXPECT_EQ(test.then[0].more_inputs[0].shape, (Shape{63}));
  EXPECT_TRUE(test.small);
  EXPECT_EQ(test.opset, 12);
}

TEST(Cases, RefuseABadLine) {
  for (const char* line :
       {"c1", "| 3", "c 1 | 3", "c1 | 3xx", "c1 | 3 | a", "c1 | 3 | a=", "c1 | 3 | a=1.5x",
        "c1 | [1", "c1 | 3 | | Add(3", "c1 | 3 | | | fast", "c1 | 3 | | | | |"}) {
    EXPECT_THROW((void)parse_case("Relu", line, "f:1"), ModelError) << line;
  }
}

/// The tables keep what their README promises.
TEST(Cases, AreNotTooLargeAndTaggedRight) {
  for (const auto& test : all_cases(kCases)) {
    SCOPED_TRACE(describe(test));
    const std::int64_t work = work_of(test);
    EXPECT_LT(work, 2'000'000);
    EXPECT_EQ(test.small, work <= 20'000) << work << " multiplications";
  }
}

TEST(Cases, DataAreReproducibleAndOfTheirKind) {
  const OperatorCase test = parse_case("Gemm", "t | 17x63 63x3!", "f:1");
  const auto values = [&](std::uint64_t seed, DataKind kind) {
    const auto inputs = make_inputs(test, seed, kind);
    const auto span = inputs[0].tensor.as<float>();
    return std::vector<float>(span.begin(), span.end());
  };
  EXPECT_EQ(values(1, DataKind::zero_mean), values(1, DataKind::zero_mean));
  EXPECT_NE(values(1, DataKind::zero_mean), values(2, DataKind::zero_mean));
  double sum = 0.0;
  for (const float value : values(1, DataKind::zero_mean)) sum += static_cast<double>(value);
  EXPECT_LT(std::fabs(sum / (17 * 63)), 0.1);
  for (const float value : values(1, DataKind::same_sign)) EXPECT_TRUE(value >= 0 && value <= 1);
  for (const float value : values(1, DataKind::integers)) {
    EXPECT_TRUE(std::nearbyint(value) == value && std::fabs(value) <= 8);
  }
  const auto whole = values(1, DataKind::integers);
  EXPECT_NE(std::find(whole.begin(), whole.end(), 8.0F), whole.end());
  EXPECT_NE(std::find(whole.begin(), whole.end(), -8.0F), whole.end());
}

TEST(Cases, InputsOfTheGraphHaveValues) {
  for (const auto& test : all_cases(kCases)) {
    SCOPED_TRACE(describe(test));
    const Graph graph = make_graph(test, 1, DataKind::integers);
    const auto inputs = make_inputs(test, 1, DataKind::integers);
    ASSERT_EQ(inputs.size(), graph.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(graph.tensor(graph.inputs[i]).name, inputs[i].name);
      EXPECT_EQ(graph.tensor(graph.inputs[i]).shape, inputs[i].tensor.shape());
    }
  }
}

/// What is called exact has whole numbers up to 2^24 everywhere; integers wrap around exactly.
TEST(Cases, ExactOnesStayExact) {
  int count = 0;
  for (const auto& test : all_cases(kCases)) {
    if (!is_exact_on_integers(test)) continue;
    SCOPED_TRACE(describe(test));
    const Graph graph = make_graph(test, 1, DataKind::integers);
    const auto result = reference_outputs(graph, make_inputs(test, 1, DataKind::integers))[0];
    const double most = is_real(graph.tensor(graph.outputs[0]).dtype) ? 0x1p24 : 0x1p65;
    for (const double value : result.value) {
      ASSERT_EQ(value, std::nearbyint(value));
      ASSERT_LE(std::fabs(value), most);
    }
    ++count;
  }
  EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace morton::test
