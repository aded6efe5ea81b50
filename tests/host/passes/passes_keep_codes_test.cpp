// SPDX-License-Identifier: Apache-2.0
//
// Products whose weights are codes of 8, 4 or 2 bits: what they become, and that they give the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/core/graph_writer.hpp"
#include "passes/passes.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kDepth = 272;
constexpr std::int64_t kColumns = 250;

/// Numbers from `least` on, `count` of them in turn, of any type.
Tensor numbers(DType type, const Shape& shape, double least, std::int64_t count) {
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    tensor.set(i, least + static_cast<double>(i * 37 % count));
  }
  return tensor;
}

Tensor scales(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    tensor.set(i, 0.003 + 0.0001 * static_cast<double>(i % 7));
  }
  return tensor;
}

/// A product in the making, of 3 rows.
class Product {
 public:
  Product() : to_(graph_, "t") {
    graph_.name = "codes";
    graph_.opset = 21;
    GraphTensor tensor;
    tensor.name = "x";
    tensor.kind = GraphTensor::Kind::input;
    tensor.shape = {3, kDepth};
    x_ = graph_.add_tensor(std::move(tensor));
    graph_.inputs.push_back(x_);
  }
  ops::GraphWriter& to() { return to_; }
  [[nodiscard]] TensorId x() const { return x_; }
  TensorId weights(Tensor codes, Tensor scale, std::int64_t axis, std::int64_t block = 0) {
    return to_.add("DequantizeLinear",
                   {to_.constant(std::move(codes)), to_.constant(std::move(scale))},
                   {{"axis", axis}, {"block_size", block}});
  }
  Graph finish(TensorId output) {
    graph_.outputs = {output};
    verify(graph_, "made");
    return graph_;
  }

 private:
  Graph graph_;
  ops::GraphWriter to_;
  TensorId x_ = kNoTensor;
};

std::vector<double> result_of_rows(const Graph& graph) {
  const std::vector<NamedTensor> inputs{{"x", test::random_tensor({3, kDepth}, 7)}};
  return test::reference_outputs(graph, inputs)[0].value;
}

std::size_t count_of(const Graph& graph, std::string_view op) {
  return static_cast<std::size_t>(
      std::ranges::count_if(graph.nodes, [&](const Node& node) { return node.op == op; }));
}

/// The weights stay codes, and the output is the same.
void expect_kept(Graph graph) {
  const std::vector<double> want = result_of_rows(graph);
  EXPECT_EQ(keep_codes(graph, {}), 1);
  verify(graph, "kept");
  EXPECT_EQ(count_of(graph, "CodedMatMul"), 1U);
  EXPECT_EQ(count_of(graph, "DequantizeLinear"), 0U);
  const std::vector<double> got = result_of_rows(graph);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4) << i;
}

TEST(PassesKeepCodes, ColumnsOfBytesKeepTheirCodes) {
  Product product;
  const TensorId weights =
      product.weights(numbers(DType::i8, {kDepth, kColumns}, -128, 256), scales({kColumns}), 1);
  expect_kept(product.finish(product.to().add("MatMul", {product.x(), weights})));
}

TEST(PassesKeepCodes, BlocksOfFourBitsKeepTheirCodes) {
  for (const DType type : {DType::u4, DType::i4}) {
    Product product;
    const double least = type == DType::i4 ? -8 : 0;
    const TensorId weights = product.weights(numbers(type, {kDepth, kColumns}, least, 16),
                                             scales({kDepth / 16, kColumns}), 0, 16);
    expect_kept(product.finish(product.to().add("MatMul", {product.x(), weights})));
  }
}

TEST(PassesKeepCodes, TransposedWeightsKeepTheirCodes) {
  Product product;
  const TensorId weights = product.weights(numbers(DType::i2, {kColumns, kDepth}, -2, 4),
                                           scales({kColumns, kDepth / 16}), 1, 16);
  const TensorId bias = product.to().constant(scales({kColumns}));
  expect_kept(product.finish(
      product.to().add("Gemm", {product.x(), weights, bias}, {{"transB", std::int64_t{1}}})));
  Product turned;
  const TensorId lines =
      turned.weights(numbers(DType::u8, {kColumns, kDepth}, 0, 256), scales({kColumns}), 0);
  expect_kept(turned.finish(
      turned.to().add("MatMul", {turned.x(), turned.to().transposed(lines, {1, 0})})));
}

TEST(PassesKeepCodes, OneScaleKeepsTheCodes) {
  Product product;
  const TensorId weights = product.to().add(
      "DequantizeLinear",
      {product.to().constant(numbers(DType::u8, {kDepth, kColumns}, 0, 256)),
       product.to().scalar(DType::f32, 0.01), product.to().scalar(DType::u8, 113)});
  expect_kept(product.finish(product.to().add("MatMul", {product.x(), weights})));
}

TEST(PassesKeepCodes, MatMulNBitsKeepsItsCodes) {
  for (const std::int64_t bits : {2, 4, 8}) {
    for (const bool has_zeros : {false, true}) {
      Product product;
      constexpr std::int64_t kBlock = 32;
      constexpr std::int64_t kBlocks = (kDepth + kBlock - 1) / kBlock;  // the last one is half full
      std::vector<TensorId> inputs{
          product.x(),
          product.to().constant(numbers(DType::u8, {kColumns, kBlocks, kBlock * bits / 8}, 0, 256)),
          product.to().constant(scales({kColumns * kBlocks}))};
      const std::int64_t packed = (kBlocks * bits + 7) / 8;
      if (has_zeros) {
        inputs.push_back(product.to().constant(numbers(DType::u8, {kColumns * packed}, 0, 256)));
      }
      expect_kept(product.finish(product.to().add(
          "com.microsoft.MatMulNBits", inputs,
          {{"K", kDepth}, {"N", kColumns}, {"bits", bits}, {"block_size", kBlock}})));
    }
  }
}

TEST(PassesKeepCodes, WeightsThatOthersReadTooBecomeReal) {
  Product product;
  const TensorId weights =
      product.weights(numbers(DType::i8, {kDepth, kColumns}, -128, 256), scales({kColumns}), 1);
  const TensorId result = product.to().add("MatMul", {product.x(), weights});
  const TensorId sum = product.to().sum(weights, {0});
  Graph graph = product.finish(product.to().apply(ScalarOp::add, {result, sum}));
  EXPECT_EQ(keep_codes(graph, {}), 0);
}

TEST(PassesKeepCodes, ScalesAlongTheDepthBecomeReal) {
  Product product;
  const TensorId weights =
      product.weights(numbers(DType::i8, {kDepth, kColumns}, -128, 256), scales({kDepth}), 0);
  Graph graph = product.finish(product.to().add("MatMul", {product.x(), weights}));
  EXPECT_EQ(keep_codes(graph, {}), 0);
}

}  // namespace
}  // namespace morton::test
