// SPDX-License-Identifier: Apache-2.0
//
// Elementwise nodes over constants, folded fast, against the reference: the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "ops/core/operator.hpp"
#include "passes/fold_elementwise.hpp"
#include "passes/rewrite.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A constant with zeros, both infinities, NaN, and numbers that overflow f32 when multiplied; of
/// integers their range.
Tensor awkward(DType type, const Shape& shape) {
  const std::vector<double> values{0,     -0.0,     1,         -1,         0.1,   -2.75,     3e38,
                                   -3e38, 1e-42,    kInfinite, -kInfinite, kNone, 127,       255,
                                   -128,  16777217, 6.1e-5,    65504,      1e-8,  -0.333333, 7};
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    tensor.set(i, values[static_cast<std::size_t>(i) % values.size()]);
  }
  return tensor;
}

struct Folding {
  std::string op;
  std::vector<DType> inputs;
  std::vector<Shape> shapes;
  DType result = DType::f32;
  Shape shape;
  std::map<std::string, Attribute> attributes{};
};

class FoldElementwise : public ::testing::TestWithParam<Folding> {};

TEST_P(FoldElementwise, GivesWhatTheReferenceGives) {
  const Folding& folding = GetParam();
  Graph graph;
  Node node{.op = folding.op, .name = "n", .attributes = folding.attributes};
  std::vector<ReferenceTensor> inputs;
  for (std::size_t i = 0; i < folding.inputs.size(); ++i) {
    Tensor tensor = awkward(folding.inputs[i], folding.shapes[i]);
    inputs.push_back(to_reference(tensor));
    node.inputs.push_back(add_constant(graph, "c" + std::to_string(i), std::move(tensor)));
  }
  GraphTensor result;
  result.name = "y";
  result.dtype = folding.result;
  result.shape = folding.shape;
  node.outputs = {graph.add_tensor(std::move(result))};
  const std::optional<Tensor> folded = fold_elementwise(graph, node);
  ASSERT_TRUE(folded.has_value());
  const ReferenceTensor wanted = reference(graph, node, inputs);
  Tensor stored = Tensor::allocate(folding.result, folding.shape);
  for (std::int64_t i = 0; i < stored.size(); ++i) {
    stored.set(i, wanted.value[static_cast<std::size_t>(i)]);
  }
  for (std::int64_t i = 0; i < stored.size(); ++i) {
    const double got = folded->at(i);
    const double want = stored.at(i);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << i;
    } else {
      EXPECT_EQ(got, want) << i;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << i;
    }
  }
}

std::vector<Folding> foldings() {
  const Shape whole{3, 5, 70};  // of more than one block of elements
  std::vector<Folding> all;
  for (const DType from : {DType::i8, DType::u8, DType::i32, DType::f16, DType::bf16, DType::f64}) {
    all.push_back({"Cast", {from}, {whole}, DType::f32, whole, {{"to", std::int64_t{1}}}});
  }
  all.push_back({"Cast", {DType::f32}, {whole}, DType::f16, whole, {{"to", std::int64_t{10}}}});
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    for (const DType type : {DType::f32, DType::f16, DType::f64}) {
      all.push_back({op, {type, type}, {whole, whole}, type, whole});
      all.push_back({op, {type, type}, {whole, {}}, type, whole});
      all.push_back({op, {type, type}, {{1, 70}, {3, 5, 1}}, type, whole});
      all.push_back({op, {type, type}, {{70}, whole}, type, whole});
    }
  }
  for (const char* op : {"Sqrt", "Exp", "Neg", "Abs"}) {
    all.push_back({op, {DType::f32}, {whole}, DType::f32, whole});
  }
  all.push_back({"Sub", {DType::f32, DType::f32}, {{}, {}}, DType::f32, {}});
  all.push_back({"Add", {DType::f32, DType::f32}, {{0, 4}, {4}}, DType::f32, {0, 4}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Nodes, FoldElementwise, ::testing::ValuesIn(foldings()));

TEST(FoldElementwiseTest, OthersAreLeftAlone) {
  Graph graph;
  const TensorId a = add_constant(graph, "a", awkward(DType::i64, {4}));
  GraphTensor result;
  result.name = "y";
  result.shape = {4};
  const TensorId y = graph.add_tensor(result);
  Node node{.op = "Cast", .name = "n", .inputs = {a}, .outputs = {y}};
  node.attributes["to"] = std::int64_t{1};
  EXPECT_FALSE(fold_elementwise(graph, node)) << "a double may not hold an i64";
}

}  // namespace
}  // namespace morton::test
