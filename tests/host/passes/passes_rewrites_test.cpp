// SPDX-License-Identifier: Apache-2.0
//
// Passes one by one, on graphs whose shapes are set by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Integers = std::vector<std::int64_t>;

/// A graph of f32 in which every tensor's shape is stated as it is made.
class Drawing {
 public:
  TensorId input(const Shape& shape) {
    const TensorId id = add(GraphTensor::Kind::input, "x" + std::to_string(count_++), shape);
    graph_.inputs.push_back(id);
    return id;
  }
  TensorId constant(const Shape& shape, std::uint64_t seed) {
    return constant(test::random_tensor(shape, seed));
  }
  TensorId constant(Tensor data) {
    return add_constant(graph_, "c" + std::to_string(count_++), std::move(data));
  }
  TensorId list(const Integers& values) {
    return constant(Tensor::from({static_cast<std::int64_t>(values.size())},
                                 std::span<const std::int64_t>(values)));
  }
  TensorId scalar(float value) {
    return constant(Tensor::from(Shape{}, std::span<const float>(&value, 1)));
  }
  TensorId node(const std::string& op, const std::vector<TensorId>& inputs, const Shape& shape,
                const std::map<std::string, Attribute>& attributes = {}) {
    const std::string name = op + "_" + std::to_string(count_++);
    const TensorId id = add(GraphTensor::Kind::activation, name, shape);
    graph_.nodes.push_back(
        {.op = op, .name = name, .inputs = inputs, .outputs = {id}, .attributes = attributes});
    return id;
  }
  /// Parameters of `channels` with variances above 0.
  TensorId batch_norm(TensorId x, const Shape& shape) {
    const Shape channels{shape[1]};
    Tensor variance = test::random_tensor(channels, 103);
    for (float& value : variance.as_mutable<float>()) value = 0.5F + std::fabs(value);
    norm_ = {constant(channels, 100), constant(channels, 101), constant(channels, 102),
             constant(std::move(variance))};
    return node("BatchNormalization", {x, norm_[0], norm_[1], norm_[2], norm_[3]}, shape,
                {{"epsilon", 1e-3}});
  }
  Graph finish(TensorId output) {
    graph_.outputs = {output};
    verify(graph_, "drawn");
    return graph_;
  }
  [[nodiscard]] const std::vector<TensorId>& norm() const { return norm_; }

 private:
  TensorId add(GraphTensor::Kind kind, const std::string& name, const Shape& shape) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = kind;
    tensor.shape = shape;
    return graph_.add_tensor(std::move(tensor));
  }

  Graph graph_;
  std::vector<TensorId> norm_;
  int count_ = 0;
};

std::vector<double> first_output(const Graph& graph) {
  std::vector<NamedTensor> inputs;
  std::uint64_t seed = 7;
  for (const TensorId id : graph.inputs) {
    inputs.push_back({graph.tensor(id).name, test::random_tensor(graph.tensor(id).shape, seed++)});
  }
  return test::reference_outputs(graph, inputs)[0].value;
}

/// The normalisation behind `graph`'s only output, spelt out as its definition has it.
std::vector<double> normalised(const Graph& graph, const Drawing& drawing, const Shape& shape) {
  std::vector<double> values = first_output(graph);
  std::int64_t inner = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) inner *= shape[d];
  const auto parameter = [&](std::size_t i, std::int64_t c) {
    return graph.tensor(drawing.norm()[i]).data.at(c);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t c = static_cast<std::int64_t>(i) / inner % shape[1];
    const double deviation = std::sqrt(parameter(3, c) + 1e-3);
    values[i] = (values[i] - parameter(2, c)) / deviation * parameter(0, c) + parameter(1, c);
  }
  return values;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << i;
}

/// Folds a normalisation behind the node; one node must stay, and compute what two did.
void expect_folded_behind(const std::string& op, const Shape& input, const Shape& weights,
                          const Shape& output, const std::map<std::string, Attribute>& attributes,
                          const Shape& biases) {
  Drawing drawing;
  std::vector<TensorId> inputs{drawing.input(input), drawing.constant(weights, 5)};
  if (!biases.empty()) inputs.push_back(drawing.constant(biases, 6));
  const TensorId sums = drawing.node(op, inputs, output, attributes);
  const TensorId y = drawing.batch_norm(sums, output);
  Graph before = drawing.finish(y);
  Graph without = before;
  without.nodes.pop_back();
  without.outputs = {sums};
  Graph folded = before;
  EXPECT_EQ(fold_batch_norms(folded, {}), 1);
  verify(folded, "folded");
  ASSERT_EQ(folded.nodes.size(), 1U);
  EXPECT_EQ(folded.nodes[0].op, op);
  EXPECT_EQ(folded.nodes[0].outputs[0], y);
  expect_near(first_output(folded), normalised(without, drawing, output));
}

TEST(FoldBatchNorms, IntoConv) {
  expect_folded_behind("Conv", {2, 3, 5, 4}, {7, 3, 3, 2}, {2, 7, 3, 3}, {}, {});
  expect_folded_behind("Conv", {1, 4, 5, 4}, {6, 2, 1, 1}, {1, 6, 5, 4},
                       {{"group", std::int64_t{2}}}, {6});
}

TEST(FoldBatchNorms, IntoGemm) {
  expect_folded_behind("Gemm", {3, 5}, {7, 5}, {3, 7}, {{"transB", std::int64_t{1}}}, {7});
  expect_folded_behind("Gemm", {3, 5}, {5, 7}, {3, 7}, {}, {});
}

TEST(FoldBatchNorms, LeavesGemmThatScales) {
  Drawing drawing;
  const TensorId x = drawing.input({3, 5});
  const TensorId sums =
      drawing.node("Gemm", {x, drawing.constant({5, 7}, 5)}, {3, 7}, {{"alpha", 0.5}});
  Graph graph = drawing.finish(drawing.batch_norm(sums, {3, 7}));
  EXPECT_EQ(fold_batch_norms(graph, {}), 1);
  EXPECT_EQ(graph.nodes.size(), 3U);
}

TEST(FoldBatchNorms, BeforeAConvWithoutPadding) {
  const Shape image{1, 4, 5, 3};
  Drawing drawing;
  const TensorId x = drawing.input(image);
  const TensorId same = drawing.node("Relu", {x}, image);
  const TensorId normal = drawing.batch_norm(same, image);
  const TensorId weights = drawing.constant({6, 2, 2, 2}, 8);
  const TensorId y =
      drawing.node("Conv", {normal, weights}, {1, 6, 4, 2}, {{"group", std::int64_t{2}}});
  Graph graph = drawing.finish(y);
  Graph first = graph;
  first.nodes.resize(1);
  first.outputs = {same};
  const std::vector<double> between = normalised(first, drawing, image);
  Graph second = graph;
  second.nodes.erase(second.nodes.begin(), second.nodes.begin() + 2);
  std::vector<float> narrow(between.begin(), between.end());
  second.tensor(normal).kind = GraphTensor::Kind::constant;
  second.tensor(normal).data = Tensor::from(image, narrow);
  const std::vector<double> want = first_output(second);
  EXPECT_EQ(fold_batch_norms(graph, {}), 1);
  ASSERT_EQ(graph.nodes.size(), 2U);
  expect_near(first_output(graph), want);
  // Padding holds zeros, not shifts.
  Graph padded = drawing.finish(y);
  padded.nodes[2].attributes["pads"] = Integers{1, 0, 0, 0};
  EXPECT_EQ(fold_batch_norms(padded, {}), 1);
  EXPECT_EQ(padded.nodes.size(), 4U);
}

TEST(FoldBatchNorms, AloneIsAProductAndASum) {
  const Shape image{2, 3, 5, 1};
  Drawing drawing;
  const TensorId x = drawing.input(image);
  const TensorId same = drawing.node("Relu", {x}, image);
  Graph graph = drawing.finish(drawing.batch_norm(same, image));
  Graph without = graph;
  without.nodes.pop_back();
  without.outputs = {same};
  EXPECT_EQ(fold_batch_norms(graph, {}), 1);
  verify(graph, "folded");
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[1].op, "Mul");
  EXPECT_EQ(graph.nodes[2].op, "Add");
  expect_near(first_output(graph), normalised(without, drawing, image));
  fuse_epilogues(graph, {});
  EXPECT_EQ(graph.nodes.size(), 1U);
}

TEST(FoldBatchNorms, LeavesConvWhoseSumsOthersRead) {
  Drawing drawing;
  const TensorId x = drawing.input({1, 3, 4, 4});
  const TensorId sums = drawing.node("Conv", {x, drawing.constant({3, 3, 1, 1}, 4)}, {1, 3, 4, 4});
  const TensorId normal = drawing.batch_norm(sums, {1, 3, 4, 4});
  Graph graph = drawing.finish(drawing.node("Add", {sums, normal}, {1, 3, 4, 4}));
  EXPECT_EQ(fold_batch_norms(graph, {}), 1);
  EXPECT_EQ(graph.nodes.size(), 4U);
}

TEST(FuseEpilogues, AResidualBlockIsTwoSteps) {
  const Shape image{1, 4, 5, 5};
  Drawing drawing;
  const TensorId x = drawing.input(image);
  TensorId y = drawing.node("Conv", {x, drawing.constant({4, 4, 1, 1}, 4)}, image);
  y = drawing.node("Relu", {drawing.batch_norm(y, image)}, image);
  y = drawing.node("Conv", {y, drawing.constant({4, 4, 1, 1}, 5)}, image);
  y = drawing.node("Add", {drawing.batch_norm(y, image), x}, image);
  Graph graph = drawing.finish(drawing.node("Relu", {y}, image));
  EXPECT_EQ(fold_batch_norms(graph, {}), 2);
  fuse_epilogues(graph, {});
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[1].epilogue.print(), "max(add(v, s1), 0)");
}

TEST(FuseEpilogues, AValueReadTwiceByWhatJoins) {
  Drawing drawing;
  const TensorId x = drawing.input({3, 5});
  const TensorId sums = drawing.node("Gemm", {x, drawing.constant({5, 7}, 5)}, {3, 7});
  const TensorId gate = drawing.node("Sigmoid", {sums}, {3, 7});
  Graph graph = drawing.finish(drawing.node("Mul", {sums, gate}, {3, 7}));
  const std::vector<double> want = first_output(graph);
  EXPECT_EQ(fuse_epilogues(graph, {}), 2);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].inputs.size(), 2U);
  EXPECT_EQ(graph.nodes[0].epilogue.input_count, 1);
  expect_near(first_output(graph), want);
}

Graph padded(const std::string& op, const Integers& pads, float value, const Shape& image,
             const Shape& output, const std::map<std::string, Attribute>& attributes) {
  Drawing drawing;
  TensorId x = drawing.input({1, 2, 7, 5});
  x = drawing.node("Relu", {x}, {1, 2, 7, 5});
  x = drawing.node("Pad", {x, drawing.list(pads), drawing.scalar(value)}, image);
  std::vector<TensorId> inputs{x};
  if (op == "Conv") inputs.push_back(drawing.constant({2, 2, 3, 3}, 4));
  return drawing.finish(drawing.node(op, inputs, output, attributes));
}

TEST(FoldPads, IntoConv) {
  Graph graph = padded("Conv", {0, 0, 1, 2, 0, 0, 3, 0}, 0.0F, {1, 2, 11, 7}, {1, 2, 9, 5}, {});
  EXPECT_EQ(fold_pads(graph, {}), 1);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(integers_of(graph.nodes[1], "pads", {}), (Integers{1, 2, 3, 0}));
  Graph ones = padded("Conv", {0, 0, 1, 1, 0, 0, 1, 1}, 1.0F, {1, 2, 9, 7}, {1, 2, 7, 5}, {});
  EXPECT_EQ(fold_pads(ones, {}), 0);
  Graph channels = padded("Conv", {0, 1, 0, 0, 0, 0, 0, 0}, 0.0F, {1, 3, 7, 5}, {1, 2, 5, 3}, {});
  EXPECT_EQ(fold_pads(channels, {}), 0);
  Graph cropped = padded("Conv", {0, 0, -1, 0, 0, 0, 1, 0}, 0.0F, {1, 2, 7, 5}, {1, 2, 5, 3}, {});
  EXPECT_EQ(fold_pads(cropped, {}), 0);
}

TEST(FoldPads, IntoAveragePoolWhichThenCountsThem) {
  const std::map<std::string, Attribute> window{{"kernel_shape", Integers{3, 3}}};
  Graph graph =
      padded("AveragePool", {0, 0, 1, 1, 0, 0, 1, 1}, 0.0F, {1, 2, 9, 7}, {1, 2, 7, 5}, window);
  EXPECT_EQ(fold_pads(graph, {}), 1);
  EXPECT_EQ(integer_of(graph.nodes[1], "count_include_pad", 0), 1);
  auto own_pads = window;
  own_pads["pads"] = Integers{1, 1, 1, 1};
  Graph mixed =
      padded("AveragePool", {0, 0, 1, 1, 0, 0, 1, 1}, 0.0F, {1, 2, 9, 7}, {1, 2, 9, 7}, own_pads);
  EXPECT_EQ(fold_pads(mixed, {}), 0);
  // A pool may not pad by a whole window.
  Graph wide =
      padded("AveragePool", {0, 0, 3, 3, 0, 0, 3, 3}, 0.0F, {1, 2, 13, 11}, {1, 2, 11, 9}, window);
  EXPECT_EQ(fold_pads(wide, {}), 0);
}

TEST(FoldPads, IntoMaxPoolOnlyWhatIsNoMaximum) {
  const std::map<std::string, Attribute> window{{"kernel_shape", Integers{3, 3}}};
  const Integers pads{0, 0, 1, 1, 0, 0, 1, 1};
  Graph zeros = padded("MaxPool", pads, 0.0F, {1, 2, 9, 7}, {1, 2, 7, 5}, window);
  EXPECT_EQ(fold_pads(zeros, {}), 1);
  Graph signs = padded("MaxPool", pads, 0.0F, {1, 2, 9, 7}, {1, 2, 7, 5}, window);
  signs.nodes[0].op = "Tanh";
  EXPECT_EQ(fold_pads(signs, {}), 0);
  Graph lowest = padded("MaxPool", pads, -INFINITY, {1, 2, 9, 7}, {1, 2, 7, 5}, window);
  lowest.nodes[0].op = "Tanh";
  EXPECT_EQ(fold_pads(lowest, {}), 1);
}

/// The image 1x4x9x7 times a gate of `gate`, read by a Conv with `weights`.
Graph gated(const Shape& gate, const Shape& image, const Shape& weights, bool image_first) {
  Drawing drawing;
  const TensorId x = drawing.node("Relu", {drawing.input(image)}, image);
  const TensorId g = drawing.node("Sigmoid", {drawing.input(gate)}, gate);
  const std::vector<TensorId> factors = image_first ? std::vector{x, g} : std::vector{g, x};
  const TensorId y = drawing.node("Mul", factors, image);
  const std::vector<TensorId> inputs{y, drawing.constant(weights, 4)};
  return drawing.finish(
      drawing.node("Conv", inputs, {image[0], weights[0], image[2], image[3]}, {}));
}

TEST(FoldGates, IntoTheWeightsOfAConvBehindOneImage) {
  for (const bool image_first : {true, false}) {
    Graph graph = gated({1, 4, 1, 1}, {1, 4, 9, 7}, {3, 4, 1, 1}, image_first);
    EXPECT_EQ(fold_gates(graph, {}), 1);
    const Node& scale = graph.nodes[2];
    const Node& conv = graph.nodes[3];
    EXPECT_EQ(scale.op, "Mul");
    EXPECT_EQ(graph.tensor(scale.outputs[0]).shape, (Shape{3, 4, 1, 1}));
    EXPECT_EQ(conv.inputs[1], scale.outputs[0]);
    EXPECT_EQ(conv.inputs[0], graph.nodes[0].outputs[0]);
  }
}

TEST(FoldGates, OnlyWhereTheGateIsOfChannelsAndTheWeightsAreFew) {
  Graph batch = gated({2, 4, 1, 1}, {2, 4, 9, 7}, {3, 4, 1, 1}, true);
  EXPECT_EQ(fold_gates(batch, {}), 0);
  Graph pixels = gated({1, 1, 9, 7}, {1, 4, 9, 7}, {3, 4, 1, 1}, true);
  EXPECT_EQ(fold_gates(pixels, {}), 0);
  Graph wide = gated({1, 4, 1, 1}, {1, 4, 9, 7}, {32, 4, 1, 1}, true);
  EXPECT_EQ(fold_gates(wide, {}), 0);
}

TEST(FoldExpands, IntoElementwiseNodesThatKeepTheirShapes) {
  Drawing drawing;
  const TensorId image = drawing.input({2, 4, 9, 7});
  const TensorId narrow = drawing.node("Sigmoid", {drawing.input({1, 4, 1, 1})}, {1, 4, 1, 1});
  const TensorId wide = drawing.node("Expand", {narrow, drawing.list({2, 4, 9, 7})}, {2, 4, 9, 7});
  Graph graph = drawing.finish(drawing.node("Mul", {wide, image}, {2, 4, 9, 7}));
  const std::vector<double> want = first_output(graph);
  EXPECT_EQ(fold_expands(graph, {}), 1);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[1].inputs, (std::vector{narrow, image}));
  EXPECT_EQ(graph.tensor(graph.outputs[0]).shape, (Shape{2, 4, 9, 7}));
  expect_near(first_output(graph), want);
}

TEST(FoldExpands, NotWhereAResultWouldShrink) {
  Drawing drawing;
  const TensorId narrow = drawing.input({1, 4, 1, 1});
  const TensorId wide = drawing.node("Expand", {narrow, drawing.list({2, 4, 9, 7})}, {2, 4, 9, 7});
  Graph alone = drawing.finish(drawing.node("Sigmoid", {wide}, {2, 4, 9, 7}));
  EXPECT_EQ(fold_expands(alone, {}), 0);
  EXPECT_EQ(alone.nodes.size(), 2U);
}

TEST(MergeEqualNodes, KeepsOneOfEach) {
  Drawing drawing;
  const TensorId x = drawing.input({3, 5});
  const TensorId a =
      drawing.node("Sigmoid", {drawing.node("Add", {x, drawing.scalar(2)}, {3, 5})}, {3, 5});
  const TensorId b =
      drawing.node("Sigmoid", {drawing.node("Add", {x, drawing.scalar(2)}, {3, 5})}, {3, 5});
  const TensorId c =
      drawing.node("Sigmoid", {drawing.node("Add", {x, drawing.scalar(3)}, {3, 5})}, {3, 5});
  const TensorId sum = drawing.node("Add", {a, b}, {3, 5});
  Graph graph = drawing.finish(drawing.node("Mul", {sum, c}, {3, 5}));
  const std::vector<double> want = first_output(graph);
  EXPECT_EQ(merge_equal_nodes(graph, {}), 3);
  verify(graph, "merged");
  EXPECT_EQ(graph.nodes.size(), 6U);
  expect_near(first_output(graph), want);
}

TEST(MergeEqualNodes, SeesAttributesAndKeepsResults) {
  Drawing drawing;
  const TensorId x = drawing.input({3, 5});
  const TensorId a = drawing.node("LeakyRelu", {x}, {3, 5}, {{"alpha", 0.1}});
  const TensorId b = drawing.node("LeakyRelu", {x}, {3, 5}, {{"alpha", 0.2}});
  const TensorId c = drawing.node("LeakyRelu", {x}, {3, 5}, {{"alpha", 0.1}});
  Graph graph = drawing.finish(a);
  graph.outputs = {a, b, c};
  EXPECT_EQ(merge_equal_nodes(graph, {}), 0);
  EXPECT_EQ(graph.nodes.size(), 3U);
}

const Integers kToLast{0, 2, 3, 1};
const Integers kToFirst{0, 3, 1, 2};

TEST(EliminateTransposes, InversePairsThroughElementwiseNodes) {
  Drawing drawing;
  const TensorId x = drawing.input({1, 3, 5, 4});
  const Shape last{1, 5, 4, 3};
  TensorId y = drawing.node("Transpose", {x}, last, {{"perm", kToLast}});
  y = drawing.node("Mul", {y, drawing.constant({3}, 4)}, last);
  y = drawing.node("Add", {drawing.constant({5, 1, 1}, 5), y}, last);
  y = drawing.node("Relu", {y}, last);
  y = drawing.node("Transpose", {y}, {1, 3, 5, 4}, {{"perm", kToFirst}});
  Graph graph = drawing.finish(drawing.node("Tanh", {y}, {1, 3, 5, 4}));
  EXPECT_EQ(eliminate_transposes(graph, {}), 2);
  verify(graph, "after");
  ASSERT_EQ(graph.nodes.size(), 4U);
  const TensorId factor = graph.nodes[0].inputs[1];
  EXPECT_EQ(graph.tensor(factor).shape, (Shape{1, 3, 1, 1}));
  EXPECT_EQ(graph.tensor(graph.nodes[1].inputs[0]).shape, (Shape{1, 1, 5, 1}));
  for (const Node& node : graph.nodes) {
    EXPECT_EQ(graph.tensor(node.outputs[0]).shape, (Shape{1, 3, 5, 4})) << node.name;
  }
}

TEST(EliminateTransposes, TwoBranchesOfOneOrderBecomeOne) {
  Drawing drawing;
  const Shape last{1, 5, 4, 3};
  const TensorId a =
      drawing.node("Transpose", {drawing.input({1, 3, 5, 4})}, last, {{"perm", kToLast}});
  const TensorId b =
      drawing.node("Transpose", {drawing.input({1, 3, 5, 4})}, last, {{"perm", kToLast}});
  Graph graph = drawing.finish(drawing.node("Add", {a, b}, last));
  EXPECT_EQ(eliminate_transposes(graph, {}), 1);
  remove_dead_code(graph, {});
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op, "Add");
  EXPECT_EQ(graph.nodes[1].op, "Transpose");
}

TEST(EliminateTransposes, LeavesThoseThatMeetNothing) {
  Drawing drawing;
  const Shape last{1, 5, 4, 3};
  const TensorId x =
      drawing.node("Transpose", {drawing.input({1, 3, 5, 4})}, last, {{"perm", kToLast}});
  Graph graph = drawing.finish(drawing.node("Relu", {x}, last));
  const std::string before = print(graph);
  EXPECT_EQ(eliminate_transposes(graph, {}), 0);
  EXPECT_EQ(print(graph), before);
}

TEST(RemoveIdentities, WhatGivesItsInputBack) {
  Drawing drawing;
  TensorId x = drawing.input({2, 3, 1});
  x = drawing.node("Relu", {x}, {2, 3, 1});
  x = drawing.node("Reshape", {x, drawing.list({2, 3, 1})}, {2, 3, 1});
  x = drawing.node("Cast", {x}, {2, 3, 1}, {{"to", std::int64_t{1}}});
  x = drawing.node("Transpose", {x}, {2, 3, 1}, {{"perm", Integers{0, 1, 2}}});
  x = drawing.node("Concat", {x}, {2, 3, 1}, {{"axis", std::int64_t{1}}});
  x = drawing.node("Pad", {x, drawing.list({0, 0, 0, 0, 0, 0})}, {2, 3, 1});
  x = drawing.node("Expand", {x, drawing.list({2, 3, 1})}, {2, 3, 1});
  Graph graph = drawing.finish(drawing.node("Tanh", {x}, {2, 3, 1}));
  EXPECT_EQ(remove_identities(graph, {}), 6);
  EXPECT_EQ(graph.nodes.size(), 2U);
}

TEST(RemoveIdentities, NotWhatMovesElementsWithinAShape) {
  Drawing drawing;
  TensorId x = drawing.input({3, 3});
  x = drawing.node("Transpose", {x}, {3, 3}, {{"perm", Integers{1, 0}}});
  x = drawing.node("Pad", {x, drawing.list({1, 0, -1, 0})}, {3, 3});
  Graph graph = drawing.finish(drawing.node("Tanh", {x}, {3, 3}));
  EXPECT_EQ(remove_identities(graph, {}), 0);
}

}  // namespace
}  // namespace morton::test
