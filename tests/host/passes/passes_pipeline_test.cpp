// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "passes/passes.hpp"
#include "passes/pipeline.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using test::DataKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kPassesPipelineSeed = 3;

Graph graph_of(const std::string& op, const std::string& line) {
  return test::make_graph(test::parse_case(op, "t | " + line, "test"), kPassesPipelineSeed,
                          DataKind::zero_mean);
}

Graph after_passes(const std::string& op, const std::string& line,
                   const PassOptions& options = {}) {
  Graph graph = graph_of(op, line);
  run_passes(graph, options);
  return graph;
}

/// One input of open shape, a Relu behind it.
Graph open_graph(std::vector<Dimension> declared) {
  Graph graph = graph_of("Relu", "1x1x1");
  graph.tensor(graph.inputs[0]).declared = std::move(declared);
  return graph;
}

Shape bound_shape(const std::vector<Dimension>& declared, const PassOptions& options) {
  Graph graph = open_graph(declared);
  run_passes(graph, options);
  return graph.tensor(graph.outputs[0]).shape;
}

std::string usage_error(const std::vector<Dimension>& declared, const PassOptions& options) {
  try {
    (void)bound_shape(declared, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(BindShapes, GivesTheBatch) {
  const std::vector<Dimension> open{{0, "batch"}, {3, ""}, {17, ""}};
  EXPECT_EQ(bound_shape(open, {}), (Shape{1, 3, 17}));
  EXPECT_EQ(bound_shape(open, {.batch = 5}), (Shape{5, 3, 17}));
  EXPECT_EQ(bound_shape(open, {.shapes = {{"x0", {7, 3, 17}}}}), (Shape{7, 3, 17}));
  EXPECT_EQ(bound_shape({{4, ""}, {3, ""}}, {.batch = 4}), (Shape{4, 3}));
}

TEST(BindShapes, RefusesWhatContradictsTheModel) {
  const std::vector<Dimension> open{{0, "batch"}, {3, ""}, {0, "width"}};
  const auto unknown = thrown<UsageError>([&] { (void)bound_shape(open, {}); });
  EXPECT_THAT(unknown.message().settings(),
              ElementsAre(NamedSetting{"batch", ""}, NamedSetting{"shapes", "x0:..."}));
  EXPECT_THAT(usage_error(open, {}), HasSubstr("'width'"));
  EXPECT_THAT(usage_error(open, {}), HasSubstr("x0 [batch, 3, width]"));
  EXPECT_THAT(usage_error(open, {.shapes = {{"x0", {1, 4, 5}}}}), HasSubstr("fixed to 3"));
  EXPECT_THAT(usage_error(open, {.shapes = {{"x0", {1, 3}}}}), HasSubstr("declares 3 dimensions"));
  EXPECT_THAT(usage_error(open, {.shapes = {{"x0", {-2, 3, 5}}}}), HasSubstr("negative"));
  EXPECT_THAT(usage_error(open, {.shapes = {{"z", {1, 3, 5}}}}), HasSubstr("inputs: x0"));
  EXPECT_THAT(usage_error(open, {.batch = 2, .shapes = {{"x0", {1, 3, 5}}}}),
              HasSubstr("batch 2: the extent 'batch' is 2 here, and 1 in shapes x0:1x3x5"));
  EXPECT_THAT(usage_error(open, {.batch = -1}), HasSubstr("positive"));
  EXPECT_THAT(usage_error({{4, ""}, {3, ""}}, {.batch = 2}), HasSubstr("open batch"));
}

TEST(BindShapes, ASymbolHasOneValue) {
  Graph graph = graph_of("Add", "1x5 1x5");
  for (const TensorId id : graph.inputs) graph.tensor(id).declared[0] = {0, "batch"};
  run_passes(graph, {.shapes = {{"x0", {3, 5}}}});
  EXPECT_EQ(graph.tensor(graph.find("x1")).shape, (Shape{3, 5}));
}

/// Exporters give one name to extents that differ.
TEST(BindShapes, AGivenShapeHoldsWhereItsNamesContradict) {
  Graph graph = graph_of("MatMul", "1x5 5x1");
  for (const TensorId id : graph.inputs) graph.tensor(id).declared = {{0, "n"}, {0, "n"}};
  const PassOptions options{.shapes = {{"x0", {2, 3}}, {"x1", {3, 4}}}};
  const auto notes = notes_on_shapes(graph, options);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0].print(), "shapes x0:2x3: the extent 'n' is both 2 and 3");
  EXPECT_EQ(notes[2].print(), "shapes x1:3x4: the extent 'n' is 4 here, and 2 in shapes x0:2x3");
  run_passes(graph, options);
  EXPECT_EQ(graph.tensor(graph.outputs[0]).shape, (Shape{2, 4}));
}

TEST(FuseEpilogues, PutsAChainBehindAProduct) {
  const Graph graph = after_passes("Conv", "1x2x5x4 3x2x2x2! 3! | | Mul(3x1x1!) Add(1) Tanh");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op, "Conv");
  EXPECT_EQ(graph.nodes[0].epilogue.print(), "tanh(add(mul(v, s1), s2))");
  EXPECT_EQ(graph.nodes[0].operand_count(), 3U);
  EXPECT_THAT(graph.nodes[0].fused, ElementsAre("Mul_1", "Add_2", "Tanh_3"));
}

TEST(FuseEpilogues, JoinsElementwiseNodes) {
  const Graph graph = after_passes("Add", "3x17 17! | | Relu Mul(3x1!)");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op, "Add");
  EXPECT_EQ(graph.nodes[0].epilogue.print(), "mul(max(v, 0), s1)");
}

TEST(FuseEpilogues, LeavesWhatWouldChangeTheShape) {
  EXPECT_EQ(after_passes("Gemm", "1x5 5x7 | | Add(3x7)").nodes.size(), 2U);
  EXPECT_EQ(after_passes("Flatten", "2x3x5 | | Relu").nodes.size(), 2U);
}

TEST(FuseEpilogues, LeavesWhatOthersRead) {
  Graph graph = graph_of("Gemm", "3x5 5x7 | | Relu");
  graph.outputs.push_back(graph.nodes[0].outputs[0]);
  run_passes(graph, {});
  EXPECT_EQ(graph.nodes.size(), 2U);
}

TEST(FuseEpilogues, KeepsToItsLimits) {
  std::string adds;
  for (int i = 0; i < 20; ++i) adds += " Add(7!)";
  const Graph graph = after_passes("Gemm", "3x5 5x7 | |" + adds);
  EXPECT_EQ(graph.nodes.size(), 3U);
  for (const Node& node : graph.nodes) EXPECT_LE(node.epilogue.input_count, 7);
}

/// As loops leave them that are written out. Where each node looked at all others, so many would
/// take minutes.
TEST(FuseEpilogues, TakesTimeInProportionToTheNodes) {
  constexpr int kNodes = 60000;
  Graph graph = graph_of("Relu", "1x1");
  for (int i = 1; i < kNodes; ++i) {
    const TensorId id = graph.add_tensor({.name = "t" + std::to_string(i), .shape = {1, 1}});
    const std::string op = i % 2 == 0 ? "Softmax" : "Tanh";  // what others join, and what joins
    graph.nodes.push_back({.op = op,
                           .name = "n" + std::to_string(i),
                           .inputs = {graph.nodes.back().outputs[0]},
                           .outputs = {id}});
  }
  graph.outputs = {graph.nodes.back().outputs[0]};
  const Stopwatch watch;
  EXPECT_EQ(passes::fuse_epilogues(graph, {}), kNodes / 2);
  EXPECT_LT(watch.milliseconds(), 10e3);
  verify(graph, "joined");
}

/// y = relu(a B) + c D: the second input is ready later than the first producer stands.
TEST(FuseEpilogues, TwoBranchesStayInOrder) {
  Graph graph = graph_of("Gemm", "3x5 5x7 | | Relu Add(3x7)");
  const TensorId id = graph.add_tensor({.name = "branch", .shape = {3, 7}});
  Node product = graph.nodes[0];
  product.name = "late";
  product.outputs = {id};
  graph.nodes[2].inputs[1] = id;
  graph.nodes.insert(graph.nodes.begin() + 2, product);
  const auto inputs =
      test::make_inputs(test::parse_case("Gemm", "t | 3x5 5x7 | | Relu Add(3x7)", "test"),
                        kPassesPipelineSeed, DataKind::zero_mean);
  const auto expected = test::reference_outputs(graph, inputs)[0];
  // Both products are the same one; here they stay two.
  run_passes(graph, {.skip = {"merge_equal_nodes"}});
  EXPECT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(test::reference_outputs(graph, inputs)[0].value, expected.value);
}

TEST(FoldConstants, ComputesOnTheHost) {
  const Graph graph = after_passes("Add", "17! 17! | | Tanh Mul(3x17)");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op, "Mul");
  const GraphTensor& folded = graph.tensor(graph.nodes[0].inputs[0]);
  EXPECT_EQ(folded.kind, GraphTensor::Kind::constant);
  EXPECT_EQ(folded.shape, (Shape{17}));
  EXPECT_LT(std::abs(folded.data.at(3)), 1.0);
}

TEST(FoldConstants, LeavesOutputsOfTheGraph) {
  EXPECT_EQ(after_passes("Add", "17! 17!").nodes.size(), 1U);
}

TEST(FoldConstants, LeavesWhatTakesFarMoreMemoryThanItsResult) {
  Graph few = graph_of("Expand", "1:i8! [16] | | Neg");
  EXPECT_GE(fold_constants(few, {}), 1);
  // 32 MiB, but doubles, their errors and origins are a gibibyte.
  Graph many = graph_of("Expand", "1:i8! [33554433] | | Neg");
  EXPECT_EQ(fold_constants(many, {}), 0);
}

TEST(RemoveIdentities, KeepsTheOutputsName) {
  const Graph graph = after_passes("Gemm", "3x5 5x7 | | Identity Relu Dropout");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].epilogue.print(), "max(v, 0)");
  EXPECT_EQ(graph.tensor(graph.outputs[0]).name, "y");
  // From an input straight to an output something must copy.
  EXPECT_EQ(after_passes("Identity", "3x5").nodes.size(), 1U);
}

TEST(RemoveDeadCode, DropsNodesOutputsAndTensors) {
  Graph graph = graph_of("Dropout", "3x5 | | Relu");
  graph.nodes[0].outputs.push_back(graph.add_tensor({.name = "mask"}));
  const TensorId unread = graph.add_tensor({.name = "unread"});
  graph.nodes.push_back(
      {.op = "Tanh", .name = "dead", .inputs = graph.inputs, .outputs = {unread}});
  run_passes(graph, {});
  EXPECT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.find("mask"), kNoTensor);
  EXPECT_EQ(graph.find("unread"), kNoTensor);
  EXPECT_EQ(graph.tensors.size(), 2U);
}

TEST(Pipeline, SkipsPassesByName) {
  const Graph graph = after_passes("Gemm", "3x5 5x7 | | Relu", {.skip = {"fuse_epilogues"}});
  EXPECT_EQ(graph.nodes.size(), 2U);
  Graph other = graph_of("Relu", "3");
  EXPECT_THROW(run_passes(other, {.skip = {"infer_shapes"}}), UsageError);
  EXPECT_THROW(run_passes(other, {.skip = {"fuse"}}), UsageError);
}

TEST(Pipeline, ReportsEachPass) {
  Graph graph = graph_of("Gemm", "3x5 5x7 | | Relu");
  const PassReport report = run_passes(graph, {.skip = {"fold_constants"}});
  ASSERT_EQ(report.passes.size(), all_passes().size());
  EXPECT_THAT(print(report), HasSubstr("fuse_epilogues"));
  EXPECT_THAT(print(report), HasSubstr("skipped"));
  for (const auto& record : report.passes) {
    EXPECT_EQ(record.changes, record.name == "fuse_epilogues" ? 1 : record.changes);
  }
}

TEST(Pipeline, NamesThePassThatBrokeAGraph) {
  Graph graph = graph_of("Relu", "3");
  graph.nodes[0].inputs[0] = TensorId(17);
  try {
    run_passes(graph, {});
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("before the passes"));
  }
}

}  // namespace
}  // namespace morton::test
