// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/shape.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::DataKind;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::Pointwise;

constexpr std::uint64_t kOpsReferenceSeed = 7;

/// `op` on a line "inputs | attributes" of the case format, the given inputs holding `values`
/// (missing ones random, zero-mean).
ReferenceTensor run(const std::string& op, const std::string& line,
                    const std::vector<std::vector<float>>& values = {}) {
  const auto parsed = test::parse_case(op, "t | " + line, "test");
  const Graph graph = test::make_graph(parsed, kOpsReferenceSeed, DataKind::zero_mean);
  auto inputs = test::make_inputs(parsed, kOpsReferenceSeed, DataKind::zero_mean);
  for (std::size_t i = 0; i < values.size(); ++i) {
    inputs[i].tensor = Tensor::from(inputs[i].tensor.shape(), values[i]);
  }
  return test::reference_outputs(graph, inputs)[0];
}

/// 1, 2, ..., count.
std::vector<float> floats_from_one(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(Reference, LpNormalizationLeavesZeros) {
  EXPECT_THAT(run("LpNormalization", "2x2 | p=1", {{0, 0, 1, -3}}).value,
              ElementsAre(0, 0, 0.25, -0.75));
  EXPECT_THAT(run("LpNormalization", "2x2 | p=2", {{3, -4, 0, 0}}).value,
              Pointwise(testing::DoubleNear(1e-6), {0.6, -0.8, 0.0, 0.0}));
}

TEST(Reference, LpNormalizationGivesNoBoundWhereANormMayBeZero) {
  // Its square is below what f32 holds.
  const auto tiny = run("LpNormalization", "1x1 | p=2", {{1e-30F}});
  EXPECT_TRUE(std::isinf(tiny.error[0]));
  EXPECT_TRUE(std::isfinite(tiny.value[0]));
}

TEST(Reference, LengthsHaveNoBoundWhereSquaresOverflow) {
  EXPECT_TRUE(std::isinf(run("ReduceL2", "1x1 | axes=[1]", {{1e30F}}).error[0]));
  EXPECT_LT(run("ReduceL2", "1x1 | axes=[1]", {{1e15F}}).error[0], 1e10);
}

TEST(Reference, LogSumExpOfInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto sums = [&](const std::vector<float>& values) {
    return run("ReduceLogSumExp", "3x2 | axes=[1] keepdims=0", {values}).value;
  };
  EXPECT_THAT(sums({kInfinity, 1, -kInfinity, -kInfinity, kInfinity, kInfinity}),
              ElementsAre(kInfinity, -kInfinity, kInfinity));
  EXPECT_TRUE(std::isnan(sums({kInfinity, std::nanf(""), 0, 0, 0, 0})[0]));
}

TEST(Reference, HardmaxTakesTheFirstNan) {
  const float nan = std::nanf("");
  EXPECT_THAT(run("Hardmax", "2x4", {{1, nan, 2, nan, 3, 4, 4, 1}}).value,
              ElementsAre(0, 1, 0, 0, 0, 1, 0, 0));
}

TEST(Reference, ClipHasLimitsBeforeOpset11) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_THAT(run("Clip", "2 | min=-1.0 | | opset=10", {{kInfinity, -5}}).value,
              ElementsAre(kLargest, -1));
  EXPECT_THAT(run("Clip", "2 | | | opset=11", {{kInfinity, -5}}).value, ElementsAre(kInfinity, -5));
}

TEST(Reference, Gemm) {
  EXPECT_THAT(run("Gemm", "2x2 2x2", {{1, 2, 3, 4}, {5, 6, 7, 8}}).value,
              ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(run("Gemm", "2x2 2x2 | transA=1", {{1, 2, 3, 4}, {5, 6, 7, 8}}).value,
              ElementsAre(26, 30, 38, 44));
  EXPECT_THAT(run("Gemm", "2x2 2x2 | transB=1", {{1, 2, 3, 4}, {5, 6, 7, 8}}).value,
              ElementsAre(17, 23, 39, 53));
  EXPECT_THAT(
      run("Gemm", "2x2 2x2 2 | alpha=2.0 beta=0.5", {{1, 2, 3, 4}, {5, 6, 7, 8}, {2, 4}}).value,
      ElementsAre(39, 46, 87, 102));
  EXPECT_THAT(run("Gemm", "2x1 1x2 2x1", {{1, 2}, {3, 4}, {10, 20}}).value,
              ElementsAre(13, 14, 26, 28));
}

TEST(Reference, GemmLeavesOutWhatBetaZeroMasks) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(run("Gemm", "1x1 1x1 1 | beta=0.0", {{2}, {3}, {nan}}).value, ElementsAre(6));
}

TEST(Reference, GemmOfDepthZeroIsC) {
  EXPECT_THAT(run("Gemm", "1x0 0x2 2", {{}, {}, {3, 4}}).value, ElementsAre(3, 4));
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> as_matrix(const std::vector<double>& values, std::int64_t rows) {
  return {values.data(), rows, static_cast<std::int64_t>(values.size()) / rows};
}

TEST(Reference, MatMulAgreesWithEigen) {
  const auto parsed = test::parse_case("MatMul", "t | 3x5x17 17x7", "test");
  const auto inputs = test::make_inputs(parsed, kOpsReferenceSeed, DataKind::zero_mean);
  const auto a = to_reference(inputs[0].tensor);
  const auto b = to_reference(inputs[1].tensor);
  const Matrix expected = as_matrix(a.value, 15) * as_matrix(b.value, 17);
  const auto got = run("MatMul", "3x5x17 17x7");
  EXPECT_EQ(got.shape, (Shape{3, 5, 7}));
  EXPECT_LT((as_matrix(got.value, 15) - expected).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Reference, ConvByHand) {
  // A 2x2 filter of ones over 1..9 sums each square of four.
  const std::vector<float> ones(4, 1.0F);
  EXPECT_THAT(run("Conv", "1x1x3x3 1x1x2x2", {floats_from_one(9), ones}).value,
              ElementsAre(12, 16, 24, 28));
  EXPECT_THAT(run("Conv", "1x1x3x3 1x1x2x2 1 | strides=[2,2] pads=[1,0,0,1]",
                  {floats_from_one(9), ones, {100}})
                  .value,
              ElementsAre(103, 103, 124, 115));
  EXPECT_THAT(
      run("Conv", "1x1x3x3 1x1x2x2 | dilations=[2,2]", {floats_from_one(9), {1, 10, 100, 1000}})
          .value,
      ElementsAre(9731));
  // Each group sees its own channel only.
  EXPECT_THAT(run("Conv", "1x2x1x1 4x1x1x1 | group=2", {{3, 5}, {1, 2, 3, 4}}).value,
              ElementsAre(3, 6, 15, 20));
  EXPECT_THAT(run("Conv", "1x1x1x2 1x1x1x2 | auto_pad=SAME_UPPER", {{1, 2}, {10, 1}}).value,
              ElementsAre(12, 20));
  EXPECT_THAT(run("Conv", "1x1x1x2 1x1x1x2 | auto_pad=SAME_LOWER", {{1, 2}, {10, 1}}).value,
              ElementsAre(1, 12));
}

/// The image's columns under each filter position, gathered in another order than the reference's,
/// times the filters, by Eigen.
TEST(Reference, ConvAgreesWithEigen) {
  const std::string line = "2x3x7x8 5x3x3x2 | strides=[2,1] pads=[1,2,0,1] dilations=[1,2]";
  const auto parsed = test::parse_case("Conv", "t | " + line, "test");
  const auto inputs = test::make_inputs(parsed, kOpsReferenceSeed, DataKind::zero_mean);
  const Tensor& image = inputs[0].tensor;
  const auto got = run("Conv", line);
  const std::int64_t oh = 3;
  const std::int64_t ow = 9;
  ASSERT_EQ(got.shape, (Shape{2, 5, oh, ow}));
  const auto weights = to_reference(inputs[1].tensor);
  for (std::int64_t n = 0; n < 2; ++n) {
    Matrix columns = Matrix::Zero(18, oh * ow);
    for (std::int64_t w = 0; w < 8; ++w) {
      for (std::int64_t h = 0; h < 7; ++h) {
        for (std::int64_t k = 0; k < 18; ++k) {
          // Row h is under filter row k/2%3 of the window whose first row is h - that.
          const std::int64_t top = h - k / 2 % 3 + 1;
          const std::int64_t left = w - k % 2 * 2 + 2;
          if (top < 0 || top % 2 != 0 || top / 2 >= oh || left < 0 || left >= ow) continue;
          columns(k, top / 2 * ow + left) = image.at(((n * 3 + k / 6) * 7 + h) * 8 + w);
        }
      }
    }
    const Matrix expected = as_matrix(weights.value, 5) * columns;
    const Eigen::Map<const Matrix> own(got.value.data() + n * 5 * oh * ow, 5, oh * ow);
    EXPECT_LT((own - expected).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(Reference, MaxPoolByHand) {
  EXPECT_THAT(run("MaxPool", "1x1x3x3 | kernel_shape=[2,2]", {floats_from_one(9)}).value,
              ElementsAre(5, 6, 8, 9));
  EXPECT_THAT(
      run("MaxPool", "1x1x3x3 | kernel_shape=[2,2] strides=[2,2] ceil_mode=1", {floats_from_one(9)})
          .value,
      ElementsAre(5, 6, 8, 9));
  // Padding never wins, not even over negative numbers.
  EXPECT_THAT(run("MaxPool", "1x1x1x2 | kernel_shape=[1,2] pads=[0,1,0,1]", {{-3, -5}}).value,
              ElementsAre(-3, -3, -5));
  EXPECT_THAT(run("MaxPool", "1x1x1x4 | kernel_shape=[1,2] dilations=[1,2]", {{4, 3, 2, 5}}).value,
              ElementsAre(4, 5));
}

TEST(Reference, MaxPoolIsExactAndKeepsNan) {
  const auto result = run("MaxPool", "1x1x1x2 | kernel_shape=[1,2]", {{-3, -5}});
  EXPECT_EQ(result.error[0], 0.0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run("MaxPool", "1x1x1x3 | kernel_shape=[1,3]", {{1, nan, 2}}).value[0]));
}

TEST(Reference, AveragePoolByHand) {
  EXPECT_THAT(run("AveragePool", "1x1x3x3 | kernel_shape=[2,2]", {floats_from_one(9)}).value,
              ElementsAre(3, 4, 6, 7));
  const std::string padded = "1x1x1x2 | kernel_shape=[1,2] pads=[0,1,0,1]";
  EXPECT_THAT(run("AveragePool", padded, {{4, 8}}).value, ElementsAre(4, 6, 8));
  EXPECT_THAT(run("AveragePool", padded + " count_include_pad=1", {{4, 8}}).value,
              ElementsAre(2, 6, 4));
}

TEST(Reference, AveragePoolNeverCountsTheOverhang) {
  // Columns -1 | 0 1 2 | 3; windows at -1 (counts 3), 2 (counts column 2, the pad 3, and no more).
  const std::string line = "1x1x1x3 | kernel_shape=[1,3] strides=[1,3] pads=[0,1,0,1] ceil_mode=1";
  EXPECT_THAT(run("AveragePool", line, {{6, 12, 8}}).value, ElementsAre(9, 8));
  EXPECT_THAT(run("AveragePool", line + " count_include_pad=1", {{6, 12, 8}}).value,
              ElementsAre(6, 4));
}

TEST(Reference, SoftmaxByHand) {
  const float log2 = std::log(2.0F);
  EXPECT_THAT(run("Softmax", "1x3", {{0, log2, 0}}).value,
              Pointwise(testing::DoubleNear(1e-7), {0.25, 0.5, 0.25}));
  EXPECT_THAT(run("Softmax", "2x2 | axis=0", {{0, 5, 0, 5}}).value,
              Pointwise(DoubleEq(), {0.5, 0.5, 0.5, 0.5}));
  EXPECT_THAT(run("Softmax", "1x2", {{1000, 1000}}).value, ElementsAre(0.5, 0.5));
  // Before opset 13 the dimensions from `axis` on are one row.
  EXPECT_THAT(run("Softmax", "1x2x2 | axis=1 | | opset=12", {{3, 3, 3, 3}}).value,
              ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(run("Softmax", "1x2x2 | axis=1", {{3, 3, 3, 3}}).value,
              ElementsAre(0.5, 0.5, 0.5, 0.5));
}

TEST(Reference, SoftmaxRowsSumToOne) {
  const auto result = run("Softmax", "2x17x3 | axis=1");
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0.0;
      for (std::size_t l = 0; l < 17; ++l) sum += result.value[(n * 17 + l) * 3 + c];
      EXPECT_NEAR(sum, 1.0, 1e-14);
    }
  }
}

TEST(Reference, ElementwiseByHand) {
  EXPECT_THAT(run("Add", "2 2x1", {{1, 2}, {10, 20}}).value, ElementsAre(11, 12, 21, 22));
  EXPECT_THAT(run("Sub", "2 1", {{1, 2}, {10}}).value, ElementsAre(-9, -8));
  EXPECT_THAT(run("Mul", "2 2", {{1, 2}, {10, 20}}).value, ElementsAre(10, 40));
  EXPECT_THAT(run("Div", "scalar 2", {{1}, {2, 4}}).value, ElementsAre(0.5, 0.25));
  EXPECT_THAT(run("Relu", "3", {{-1, 0, 2}}).value, ElementsAre(0, 0, 2));
  EXPECT_THAT(run("Sigmoid", "3", {{0, 1, -200}}).value,
              ElementsAre(0.5, DoubleEq(1 / (1 + std::exp(-1.0))), testing::Lt(1e-80)));
  EXPECT_THAT(run("Tanh", "1", {{0.5}}).value, ElementsAre(DoubleEq(std::tanh(0.5))));
  EXPECT_TRUE(std::isnan(run("Relu", "1", {{std::numeric_limits<float>::quiet_NaN()}}).value[0]));
}

TEST(Reference, RenamingOperatorsKeepTheElements) {
  for (const char* line : {"2x3 [3,2]", "2x3 [-1]"}) {
    EXPECT_THAT(run("Reshape", line, {floats_from_one(6)}).value, ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_THAT(run("Flatten", "1x2x2", {floats_from_one(4)}).value, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("Dropout", "2", {{1, 2}}).value, ElementsAre(1, 2));
  EXPECT_THAT(run("Identity", "2", {{1, 2}}).value, ElementsAre(1, 2));
  EXPECT_EQ(run("Flatten", "1x2x2").shape, (Shape{1, 4}));
}

/// A product in f32, summed front to back, lies within the bound; with one term dropped it does
/// not.
TEST(Reference, BoundsASequentialSumAndCatchesADroppedTerm) {
  for (const DataKind kind : {DataKind::zero_mean, DataKind::same_sign}) {
    const auto parsed = test::parse_case("Gemm", "t | 17x1025 1025x9", "test");
    const Graph graph = test::make_graph(parsed, kOpsReferenceSeed, kind);
    const auto inputs = test::make_inputs(parsed, kOpsReferenceSeed, kind);
    const auto expected = test::reference_outputs(graph, inputs)[0];
    const auto a = inputs[0].tensor.as<float>();
    const auto b = inputs[1].tensor.as<float>();
    std::vector<float> whole;
    std::vector<float> dropped;
    for (std::size_t m = 0; m < 17; ++m) {
      for (std::size_t n = 0; n < 9; ++n) {
        float sum = 0.0F;
        float without = 0.0F;
        for (std::size_t k = 0; k < 1025; ++k) {
          const float term = a[m * 1025 + k] * b[k * 9 + n];
          sum += term;
          if (k != 500) without += term;
        }
        whole.push_back(sum);
        dropped.push_back(without);
      }
    }
    const auto good = test::compare(expected, whole);
    EXPECT_TRUE(good.ok()) << "seed " << kOpsReferenceSeed << "\n" << good.text;
    EXPECT_GT(test::compare(expected, dropped).wrong, 17 * 9 * 98 / 100)
        << "seed " << kOpsReferenceSeed;
  }
}

TEST(Reference, SumsOfInfinitiesAreBoundedWhereTheirSignIsSure) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto sum_of = [](const Bounded& a, const Bounded& b) {
    BoundedSum sum;
    sum.add({1.0, 0.5});
    sum.add_product(a, b);
    return sum.result();
  };
  const Bounded sure = sum_of({-kInfinity, 0.0}, {2.0, 1.0});
  EXPECT_EQ(sure.value, -kInfinity);
  EXPECT_EQ(sure.error, 0.0);
  EXPECT_TRUE(std::isinf(sum_of({-kInfinity, 0.0}, {2.0, 2.0}).error));
  EXPECT_TRUE(std::isinf(sum_of({-kInfinity, kInfinity}, {2.0, 0.0}).error));
  EXPECT_TRUE(std::isinf(sum_of({0.0, 1e-9}, {kInfinity, 0.0}).error));
  const Bounded nothing = sum_of({0.0, 0.0}, {kInfinity, 0.0});
  EXPECT_TRUE(std::isnan(nothing.value));
  EXPECT_EQ(nothing.error, 0.0);
}

TEST(Reference, LongSumsOfOneSignAreAllowedMore) {
  BoundedSum mixed;
  BoundedSum positive;
  for (int i = 0; i < 10000; ++i) {
    mixed.add({i % 2 == 0 ? 1.0 : -1.0, 0.0});
    positive.add({1.0, 0.0});
  }
  EXPECT_NEAR(mixed.result().error / (10000 * kUnitRoundoff), 8.0, 0.01);
  EXPECT_NEAR(positive.result().error / (10000 * kUnitRoundoff), 151.0, 0.01);
}

TEST(Reference, CarriesErrorsThroughANetwork) {
  // tanh(x W) U: the error of the first product, damped by tanh, times |U|.
  const auto parsed =
      test::parse_case("Gemm", "t | 1x9 9x9! | | Tanh Mul(1x9!) Relu Softmax", "test");
  const Graph graph = test::make_graph(parsed, kOpsReferenceSeed, DataKind::zero_mean);
  const auto result = test::reference_outputs(
      graph, test::make_inputs(parsed, kOpsReferenceSeed, DataKind::zero_mean))[0];
  for (std::size_t i = 0; i < result.value.size(); ++i) {
    EXPECT_GT(result.error[i], 1e-8);
    EXPECT_LT(result.error[i], 1e-5);
  }
}

}  // namespace
}  // namespace morton::test
