// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of a graph that is written to a file again, on the cases of all operators and on
// networks. Both forms are computed by the reference.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ops/core/operator.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/conversion/element_types.hpp"
#include "passes/conversion/half_constants.hpp"
#include "passes/conversion/half_operators.hpp"
#include "passes/conversion/raise_rules.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"
#include "support/thrown.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

const std::vector<OperatorCase>& every_case() {
  static const std::vector<OperatorCase> kCases = all_cases(MORTON_SOURCE_DIR "/tests/cases");
  return kCases;
}

/// Without what inference found: only what a file states is left.
Graph as_read(Graph graph) {
  for (GraphTensor& tensor : graph.tensors) {
    if (tensor.kind != GraphTensor::Kind::activation) continue;
    tensor.shape.clear();
    tensor.dtype = DType::f32;
  }
  return graph;
}

TEST(PassesConversion, ElementTypesAreThoseThatInferenceFinds) {
  int known = 0;
  for (const OperatorCase& test : every_case()) {
    const Graph graph = make_graph(test, 1, DataKind::zero_mean);
    const passes::ElementTypes types = passes::element_types(as_read(graph));
    for (const TensorId id : graph.tensors.ids()) {
      if (!types[id]) continue;
      ++known;
      EXPECT_EQ(name_of(*types[id]), name_of(graph.tensor(id).dtype))
          << describe(test) << ": " << graph.tensor(id).name;
    }
  }
  EXPECT_GT(known, 2000);
}

/// Whether a rule changes the case's operator between its opset and this one.
bool is_raised(const OperatorCase& test, std::int64_t opset) {
  return std::ranges::any_of(passes::raise_rules(), [&](const passes::RaiseRule& rule) {
    return rule.op == test.op && rule.since > test.opset && rule.since <= opset;
  });
}

void expect_same_values(const std::vector<ReferenceTensor>& got,
                        const std::vector<ReferenceTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].shape, want[i].shape);
    ASSERT_EQ(got[i].value.size(), want[i].value.size());
    for (std::size_t e = 0; e < want[i].value.size(); ++e) {
      const double a = got[i].value[e], b = want[i].value[e];
      if (std::isnan(a) && std::isnan(b)) continue;
      ASSERT_NEAR(a, b, 1e-9 * std::max(1.0, std::abs(b))) << "element " << e;
    }
  }
}

/// Raises the graph with its shapes known and without; false where it has no form in that set.
bool is_raised_to_the_same(const Graph& before, const std::vector<NamedTensor>& inputs,
                           std::int64_t opset) {
  bool is_raised = false;
  for (const bool knows_shapes : {false, true}) {
    passes::KnownShapes shapes;
    for (const GraphTensor& tensor : before.tensors) {
      if (knows_shapes) shapes[tensor.name] = tensor.shape;
    }
    Graph after = as_read(before);
    try {
      passes::raise_opset(after, opset, shapes);
    } catch (const UnsupportedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("nodes have no form in that set"));
      continue;
    }
    EXPECT_EQ(after.opset, opset);
    is_raised = true;
    expect_same_values(reference_outputs(with_shapes(after, 0), inputs),
                       reference_outputs(before, inputs));
  }
  return is_raised;
}

/// Resize of version 10, whose scales are a constant of reals: tables of cases have none.
Graph early_resize(const std::string& mode, const std::vector<float>& scales) {
  Graph graph = Sketch()
                    .input("x", {1, 3, 5, 7})
                    .constant("scales", Tensor::from({4}, scales))
                    .node("Resize", {"x", "scales"}, {"y"}, {{"mode", mode}})
                    .graph({"y"});
  graph.opset = 10;
  return with_shapes(graph, 0);
}

TEST(PassesConversion, RaisedOperatorsComputeTheSame) {
  constexpr std::int64_t kOpset = 25;
  std::set<std::string> raised;
  for (const OperatorCase& test : every_case()) {
    if (!is_raised(test, kOpset)) continue;
    SCOPED_TRACE(describe(test));
    const Graph before = make_graph(test, 1, DataKind::zero_mean);
    const auto inputs = make_inputs(test, 1, DataKind::zero_mean);
    if (is_raised_to_the_same(before, inputs, kOpset)) raised.insert(test.op);
  }
  for (const char* mode : {"nearest", "linear"}) {
    for (const std::vector<float>& scales : std::vector<std::vector<float>>{
             {1, 1, 2, 2}, {1, 1, 2.5F, 1.3F}, {1, 1, 0.6F, 0.5F}, {1, 1, 0.5F, 3}}) {
      SCOPED_TRACE(std::string(mode) + " " + ::testing::PrintToString(scales));
      const bool is_mixed = scales[2] < 1.0F && scales[3] > 1.0F;
      const bool has_form = is_raised_to_the_same(early_resize(mode, scales),
                                                  {{"x", random_tensor({1, 3, 5, 7}, 4)}}, kOpset);
      EXPECT_EQ(has_form, !is_mixed || std::string(mode) == "linear");
      if (has_form) raised.insert("Resize");
    }
  }
  for (const char* op : {"Clip", "Pad", "Slice", "TopK", "Upsample", "Resize", "Split", "Squeeze",
                         "Unsqueeze", "ReduceSum", "ReduceMean", "Softmax", "LogSoftmax",
                         "GridSample", "RoiAlign", "DFT", "GroupNormalization"}) {
    EXPECT_TRUE(raised.contains(op)) << op;
  }
}

TEST(PassesConversion, AllNodesWithoutAFormAreNamed) {
  Graph graph = Sketch()
                    .input("x", {1, 1, 4, 4})
                    .constant("scales", Tensor::from({4}, std::vector<float>{1, 1, 2, 0.5F}))
                    .node("Resize", {"x", "scales"}, {"a"})
                    .node("Resize", {"a", "scales"}, {"b"})
                    .graph({"b"});
  graph.opset = 10;
  try {
    passes::raise_opset(graph, 13, {});
    FAIL() << "it was raised";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Resize_0"));
    EXPECT_THAT(error.what(), HasSubstr("Resize_1"));
  }
}

TEST(PassesConversion, WhatIsInHalvesIsReadAsSuch) {
  std::set<std::string> seen;
  for (const DType type : {DType::f16, DType::bf16}) {
    for (const OperatorCase& test : every_case()) {
      const auto op = passes::half_operator(test.op);
      if (!op || op->since(type) == 0 || test.opset < op->since(type)) continue;
      SCOPED_TRACE(describe(test) + ", " + std::string(name_of(type)));
      Graph graph = as_read(make_graph(test, 1, DataKind::zero_mean));
      const auto report = passes::make_halves(graph, {.type = type});
      if (report.half_nodes == 0) continue;
      EXPECT_NO_THROW((void)with_shapes(graph, 0));
      seen.insert(test.op);
    }
  }
  EXPECT_GT(seen.size(), 100U);
}

double largest_difference(const std::vector<ReferenceTensor>& a,
                          const std::vector<ReferenceTensor>& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t e = 0; e < a[i].value.size(); ++e) {
      most = std::max(most, std::abs(a[i].value[e] - b[i].value[e]));
    }
  }
  return most;
}

TEST(PassesConversion, NetworksInHalvesGiveAlmostTheSame) {
  for (const Graph& network : {make_mlp(1), make_small_cnn(2), make_residual_network(3)}) {
    Graph halves = network;
    const auto report = passes::make_halves(halves, {});
    EXPECT_TRUE(report.in_float.empty());
    const GraphTensor& input = halves.tensor(halves.inputs[0]);
    EXPECT_EQ(input.dtype, DType::f32);
    EXPECT_EQ(halves.tensor(halves.outputs[0]).dtype, DType::f32);
    EXPECT_EQ(halves.tensor(halves.outputs[0]).name, network.tensor(network.outputs[0]).name);
    const Graph a = with_shapes(network, 2), b = with_shapes(halves, 2);
    const std::vector<NamedTensor> inputs{
        {input.name, random_tensor(a.tensor(a.inputs[0]).shape, 4)}};
    const double error =
        largest_difference(reference_outputs(a, inputs), reference_outputs(b, inputs));
    EXPECT_LT(error, 4e-3);
    EXPECT_GT(error, 0.0);
  }
}

TEST(PassesConversion, PortsBecomeHalvesWhereTheyAreToldTo) {
  Graph graph = make_mlp(1);
  const std::size_t nodes = graph.nodes.size();
  passes::make_halves(graph, {.ports = passes::HalvesOptions::Ports::convert});
  EXPECT_EQ(graph.nodes.size(), nodes);
  EXPECT_EQ(graph.tensor(graph.inputs[0]).dtype, DType::f16);
  EXPECT_EQ(graph.tensor(graph.outputs[0]).dtype, DType::f16);
}

TEST(PassesConversion, NamedNodesAndShapeArithmeticStayInF32) {
  Graph graph = Sketch()
                    .input("x", {1, 2, 4, 4})
                    .constant("two", Tensor::from({}, std::vector<float>{2.0F}))
                    .constant("rest", Tensor::from({}, std::vector<float>{1.0F}))
                    .node("Shape", {"x"}, {"shape"})
                    .node("Cast", {"shape"}, {"real"}, {{"to", std::int64_t{1}}})
                    .node("Mul", {"real", "two"}, {"twice"})
                    .node("Cast", {"twice"}, {"sizes"}, {{"to", std::int64_t{7}}})
                    .node("Mul", {"x", "two"}, {"y"})
                    .node("Add", {"y", "rest"}, {"z"})
                    .node("Relu", {"z"}, {"out"})
                    .graph({"out", "sizes"});
  const auto report = passes::make_halves(graph, {.in_float = {"Add_5"}});
  std::vector<std::string> in_float;
  for (const auto& node : report.in_float) in_float.push_back(node.node + ": " + node.why);
  EXPECT_THAT(in_float, ::testing::ElementsAre("Cast_1: computes shapes", "Mul_2: computes shapes",
                                               "Cast_3: computes shapes", "Add_5: named"));
  EXPECT_EQ(report.half_nodes, 2);
  // Of two readers one is in f32.
  EXPECT_EQ(graph.tensor(graph.find("two")).dtype, DType::f32);
  EXPECT_EQ(graph.tensor(graph.find("two_f16")).dtype, DType::f16);
  EXPECT_EQ(graph.tensor(graph.find("rest")).dtype, DType::f32);
  EXPECT_NO_THROW((void)with_shapes(graph, 0));
}

TEST(PassesConversion, LayersOfCodesStayInF32) {
  Tensor scale = Tensor::from({}, std::vector<float>{0.1F});
  Graph graph = Sketch()
                    .input("x", {2, 3})
                    .constant("scale", scale)
                    .node("QuantizeLinear", {"x", "scale"}, {"codes"})
                    .node("DequantizeLinear", {"codes", "scale"}, {"d"})
                    .node("Relu", {"d"}, {"r"})
                    .node("Exp", {"r"}, {"y"})
                    .graph({"y"});
  const auto report = passes::make_halves(graph, {});
  EXPECT_EQ(report.half_nodes, 1);
  ASSERT_EQ(report.in_float.size(), 3U);
  EXPECT_EQ(report.in_float[2].why, "a layer of codes");
}

TEST(PassesConversion, ConstantsBeyondHalvesBecomeTheLargest) {
  const auto infinity = std::numeric_limits<float>::infinity();
  const Tensor data = Tensor::from({4}, std::vector<float>{1e6F, -3e38F, infinity, 1e-9F});
  const auto half = passes::half_constant(data, DType::f16);
  EXPECT_EQ(half.beyond, 2);
  EXPECT_EQ(half.data.at(0), 65504.0);
  EXPECT_EQ(half.data.at(1), -65504.0);
  EXPECT_EQ(half.data.at(2), infinity);
  EXPECT_EQ(half.data.at(3), 0.0);
  EXPECT_FALSE(half.is_lifted);
  const Tensor epsilon = Tensor::from({}, std::vector<float>{-1e-12F});
  const auto lifted = passes::half_constant(epsilon, DType::f16);
  EXPECT_TRUE(lifted.is_lifted);
  EXPECT_EQ(lifted.data.at(0), -std::ldexp(1.0, -24));
  EXPECT_EQ(passes::half_constant(data, DType::bf16).beyond, 0);
}

TEST(PassesConversion, NodesOfConstantsAloneAreFolded) {
  Graph graph = Sketch()
                    .input("x", {2, 3})
                    .constant("a", Tensor::from({3}, std::vector<float>{1, 2, 3}))
                    .constant("codes", Tensor::allocate(DType::i8, {3}))
                    .constant("scale", Tensor::from({}, std::vector<float>{0.5F}))
                    .node("Exp", {"a"}, {"b"})
                    .node("Neg", {"b"}, {"c"})
                    .node("Add", {"x", "c"}, {"d"})
                    .node("DequantizeLinear", {"codes", "scale"}, {"e"})
                    .node("Add", {"d", "e"}, {"y"})
                    .graph({"y"});
  graph.tensor(graph.find("x")).declared[0] = {0, "batch"};
  EXPECT_EQ(passes::fold_known(graph), 2);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_NEAR(graph.tensor(graph.find("c")).data.at(2), -std::exp(3.0), 1e-5);
  EXPECT_EQ(graph.find("b"), kNoTensor);
}

}  // namespace
}  // namespace morton::test
