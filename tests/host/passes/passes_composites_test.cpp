// SPDX-License-Identifier: Apache-2.0
//
// Operators that are composed of others, written out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ops/core/expansion.hpp"
#include "passes/passes.hpp"
#include "passes/pipeline.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Graph composed(const std::string& op, const std::string& line) {
  return make_graph(parse_case(op, "t | " + line, "test"), 1, DataKind::zero_mean);
}

std::vector<std::string> operators_in(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

TEST(ExpandComposites, OthersStandInThePlaceOfANode) {
  Graph graph = composed("RMSNormalization", "3x17 17! | | Relu | opset=23");
  EXPECT_EQ(expand_composites(graph, {}), 1);
  verify(graph, "written out");
  EXPECT_THAT(operators_in(graph),
              ElementsAre("ReduceSumSquare", "Chain", "Chain", "Chain", "Relu"));
  EXPECT_EQ(graph.nodes[3].name, "RMSNormalization_0");
}

TEST(ExpandComposites, RefusesConstantsThatNoMemoryHolds) {
  constexpr std::int64_t kMany = std::int64_t{1} << 31;
  Graph eye = composed("EyeLike", "3x2");
  eye.tensor(eye.inputs[0]).shape[0] = kMany;
  Graph loss = composed("NegativeLogLikelihoodLoss", "1x2 1:i64 | | | opset=22");
  loss.tensor(loss.inputs[0]).shape[1] = kMany;
  Graph resized = composed("Resize",
                           "1x2x5x7 [0,0,1,1] - [4,268435455] | mode=linear axes=[2,3] "
                           "coordinate_transformation_mode=tf_crop_and_resize | | opset=18");
  for (Graph* graph : {&eye, &loss, &resized}) {
    const auto error = thrown<UnsupportedError>([&] { (void)expand_composites(*graph, {}); });
    EXPECT_THAT(std::string(error.what()),
                AllOf(HasSubstr(graph->nodes[0].op), HasSubstr("256 MiB")));
  }
}

TEST(ExpandComposites, LeavesWhatIsComputedAsItIs) {
  Graph graph = composed("BatchNormalization", "3x2x5 2! 2! 2! 2!");
  EXPECT_EQ(expand_composites(graph, {}), 0);
  EXPECT_THAT(operators_in(graph), ElementsAre("BatchNormalization"));
}

TEST(ExpandComposites, EveryOutputKeepsItsNameAndType) {
  Graph graph = composed("com.microsoft.SkipLayerNormalization",
                         "2x3x17:f16 2x3x17:f16 17:f16! 17:f16! | | | output=3");
  const std::vector<TensorId> outputs = graph.nodes[0].outputs;
  std::vector<GraphTensor> before;
  for (const TensorId id : outputs) before.push_back(graph.tensor(id));
  EXPECT_EQ(expand_composites(graph, {}), 1);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(graph.tensor(outputs[i]).name, before[i].name);
    EXPECT_EQ(graph.tensor(outputs[i]).dtype, before[i].dtype);
    EXPECT_EQ(graph.tensor(outputs[i]).shape, before[i].shape);
    EXPECT_TRUE(graph.producer(outputs[i]));
  }
}

TEST(ExpandComposites, CopiesAnOutputThatIsAnInput) {
  Graph graph = composed("Attention", "2x2x3x5 2x2x4x5 2x2x4x6 | | | opset=24 output=2");
  const TensorId present = graph.nodes[0].outputs[2];
  EXPECT_EQ(expand_composites(graph, {}), 1);
  const auto producer = graph.producer(present);
  ASSERT_TRUE(producer);
  EXPECT_EQ(graph.node(producer).op, "Identity");
  EXPECT_EQ(graph.tensor(graph.node(producer).inputs[0]).name, "x2");
}

TEST(ExpandComposites, WritesOutWhatIsInside) {
  Graph graph =
      composed("com.microsoft.FusedConv", "1x2x5x4:f16 3x2x2x2:f16! 3:f16! | activation=Relu");
  EXPECT_EQ(expand_composites(graph, {}), 2);  // itself, and Conv of halves
  verify(graph, "written out");
  EXPECT_THAT(operators_in(graph), Not(Contains("com.microsoft.FusedConv")));
  for (const Node& node : graph.nodes) {
    if (node.op != "Conv") continue;
    EXPECT_EQ(graph.tensor(node.inputs[0]).dtype, DType::f32);
  }
}

TEST(ExpandComposites, HalvesAreComputedInF32) {
  Graph graph = composed("MatMul", "3x17:f16 17x5:f16");
  EXPECT_EQ(expand_composites(graph, {}), 1);
  EXPECT_THAT(operators_in(graph), ElementsAre("Chain", "Chain", "MatMul", "Chain"));
  EXPECT_EQ(graph.tensor(graph.outputs[0]).dtype, DType::f16);
}

/// What a model gets wrong, as inference says it.
std::string refusal(const std::string& op, const std::string& line) {
  try {
    (void)composed(op, line);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ExpandComposites, ErrorsNameTheNodeThatIsComposed) {
  EXPECT_THAT(refusal("RMSNormalization", "3x17 5! | | | opset=23"),
              HasSubstr("RMSNormalization 'RMSNormalization_0': "));
  EXPECT_THAT(refusal("GroupNormalization", "2x6x3 6! 6! | num_groups=4 | | opset=21"),
              HasSubstr("num_groups is 4; it must divide the 6 channels"));
  EXPECT_THAT(refusal("GroupNormalization", "2x6x3 6! 6! | num_groups=3 | | opset=18"),
              HasSubstr("the scale (input 1) is 6, expected 3"));
  EXPECT_THAT(refusal("RotaryEmbedding", "2x5x12 2x5x2 2x5x2 | num_heads=5 | | opset=23"),
              HasSubstr("num_heads is 5"));
  EXPECT_THAT(refusal("RotaryEmbedding", "1x3x5x4 1x5x3 1x5x3 | | | opset=23"),
              HasSubstr("the cache of cosines (input 1) is 1x5x3, expected 1x5x2"));
}

TEST(ExpandComposites, AttentionSaysWhatDoesNotFit) {
  EXPECT_THAT(refusal("Attention", "2x3x5x7 2x2x9x7 2x2x9x4 | | | opset=24"),
              HasSubstr("has 3 heads of queries; the 2 heads of keys must divide them"));
  EXPECT_THAT(refusal("Attention", "2x3x5x7 2x3x9x6 2x3x9x4 | | | opset=24"),
              HasSubstr("do not go together"));
  EXPECT_THAT(refusal("Attention", "2x3x5x7 2x3x9x7 2x3x9x4 4x9 | | | opset=24"),
              HasSubstr("4x9 and 2x3x5x9 do not broadcast"));
  EXPECT_THAT(refusal("Attention", "2x3x5x7 2x3x9x7 2x3x9x4 - 2x3x1x7 | | | opset=24"),
              HasSubstr("has one of past_key and past_value"));
  EXPECT_THAT(
      refusal("Attention", "1x1x1x2 1x1x1x2 1x1x1x2 | qk_matmul_output_mode=4 | | opset=24"),
      HasSubstr("qk_matmul_output_mode is 4, expected 0 to 3"));
}

TEST(ExpandComposites, LossesSayWhatDoesNotFit) {
  EXPECT_THAT(refusal("NegativeLogLikelihoodLoss", "3x5 [0,1,5] | | | opset=22"),
              HasSubstr("names class 5 of 5"));
  EXPECT_THAT(refusal("NegativeLogLikelihoodLoss", "3x5 [0,1] | | | opset=22"),
              HasSubstr("the classes (input 1) is 2, expected 3"));
  EXPECT_THAT(refusal("SoftmaxCrossEntropyLoss", "3x5 [0,1,2] 4! | | | opset=13"),
              HasSubstr("the weights of the classes (input 2) is 4, expected 5"));
  EXPECT_THAT(refusal("SoftmaxCrossEntropyLoss", "3x5 [0,1,2] | reduction=most | | opset=13"),
              HasSubstr("reduction is 'most'"));
}

}  // namespace
}  // namespace morton::test
