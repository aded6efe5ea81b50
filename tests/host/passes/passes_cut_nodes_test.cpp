// SPDX-License-Identifier: Apache-2.0
//
// Nodes that are computed in parts give what they gave as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/cut_nodes.hpp"
#include "passes/passes.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"

namespace morton::test {
namespace {

Tensor counted(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  int i = 0;
  for (float& value : tensor.as_mutable<float>()) {
    value = 0.125F * static_cast<float>(i++ * 37 % 41 - 20);
  }
  return tensor;
}

std::vector<NamedTensor> inputs_of(const Graph& graph) {
  std::vector<NamedTensor> inputs;
  for (const TensorId id : graph.inputs) {
    inputs.push_back({graph.tensor(id).name, counted(graph.tensor(id).shape)});
  }
  return inputs;
}

Graph passed(Graph graph, const PassOptions& options) {
  run_passes(graph, options);
  return graph;
}

/// Each node that can be is cut into `pieces`; gives the graph with them.
Graph cut_everywhere(const Graph& graph, PassOptions options, std::int64_t pieces) {
  const Graph whole = passed(graph, options);
  for (const Node& node : whole.nodes) {
    if (!cuts_of(whole, node).empty()) options.pieces[node.name] = pieces;
  }
  Graph parts = passed(graph, options);
  EXPECT_EQ(std::ranges::count(parts.nodes, "Concat", &Node::op),
            std::ranges::count(whole.nodes, "Concat", &Node::op) +
                static_cast<std::ptrdiff_t>(options.pieces.size()));
  const std::vector<NamedTensor> inputs = inputs_of(whole);
  const auto expected = reference_outputs(whole, inputs);
  const auto found = reference_outputs(parts, inputs);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    EXPECT_EQ(found[o].shape, expected[o].shape);
    EXPECT_EQ(found[o].value, expected[o].value) << "output " << o;
  }
  return parts;
}

std::int64_t number_of(const Graph& graph, const std::string& op) {
  return std::ranges::count(graph.nodes, op, &Node::op);
}

TEST(CutNodes, NetworksGiveTheSame) {
  for (const std::int64_t batch : {1, 3}) {
    for (const Graph& graph : {make_mlp(1), make_small_cnn(2), make_residual_network(3)}) {
      SCOPED_TRACE(graph.name + ", batch " + std::to_string(batch));
      const Graph parts = cut_everywhere(graph, {.batch = batch}, 3);
      EXPECT_GT(parts.nodes.size(), graph.nodes.size());
    }
  }
}

TEST(CutNodes, ConvolutionsByBatchElseByFiltersElseByGroups) {
  const auto conv = [](std::int64_t batch, std::int64_t groups) {
    return Sketch()
        .input("x", {batch, 8, 6, 5})
        .constant("w", counted({12, 8 / groups, 3, 3}))
        .constant("b", counted({12}))
        .node("Conv", {"x", "w", "b"}, {"y"}, {{"group", groups}})
        .graph({"y"});
  };
  const Graph batch = cut_everywhere(conv(4, 1), {}, 4);
  EXPECT_EQ(number_of(batch, "Conv"), 4);
  EXPECT_EQ(number_of(batch, "Split"), 1);
  const Graph filters = cut_everywhere(conv(1, 1), {}, 4);
  EXPECT_EQ(number_of(filters, "Conv"), 4);
  EXPECT_EQ(number_of(filters, "Split"), 0);  // the weights are cut ahead
  const Graph groups = cut_everywhere(conv(1, 4), {}, 3);
  EXPECT_EQ(number_of(groups, "Conv"), 2);  // of two groups each
  EXPECT_EQ(number_of(groups, "Split"), 1);
  const Graph depthwise = cut_everywhere(conv(1, 2), {}, 9);
  EXPECT_EQ(number_of(depthwise, "Conv"), 2);
}

TEST(CutNodes, ProductsByBatchRowsOrColumns) {
  const Graph batched = cut_everywhere(Sketch()
                                           .input("a", {3, 4, 5})
                                           .input("b", {5, 6})
                                           .node("MatMul", {"a", "b"}, {"y"})
                                           .graph({"y"}),
                                       {}, 3);
  EXPECT_EQ(number_of(batched, "MatMul"), 3);
  const Graph columns = cut_everywhere(Sketch()
                                           .input("a", {1, 5})
                                           .constant("b", counted({5, 48}))
                                           .constant("c", counted({48}))
                                           .node("MatMul", {"a", "b"}, {"p"})
                                           .node("Add", {"p", "c"}, {"y"})
                                           .graph({"y"}),
                                       {}, 3);
  EXPECT_EQ(number_of(columns, "MatMul"), 3);
  for (const std::int64_t turned : {0, 1}) {
    const Shape left = turned == 1 ? Shape{5, 7} : Shape{7, 5};
    const Shape right = turned == 1 ? Shape{6, 5} : Shape{5, 6};
    for (const Shape& addend : {Shape{7, 6}, Shape{6}, Shape{7, 1}}) {
      const Graph gemm = cut_everywhere(
          Sketch()
              .input("a", left)
              .input("b", right)
              .input("c", addend)
              .node("Gemm", {"a", "b", "c"}, {"y"}, {{"transA", turned}, {"transB", turned}})
              .graph({"y"}),
          {}, 2);
      EXPECT_EQ(number_of(gemm, "Gemm"), 2);
    }
  }
}

TEST(CutNodes, ElementsAreCutWhereTheOthersFit) {
  const Graph sum = cut_everywhere(
      Sketch().input("a", {2, 3, 4}).input("b", {3, 1}).node("Add", {"a", "b"}, {"y"}).graph({"y"}),
      {}, 3);
  EXPECT_EQ(number_of(sum, "Add"), 3);
}

TEST(CutNodes, PartsAreCutAgainByTheirNames) {
  const Graph graph = Sketch()
                          .input("x", {2, 4, 6, 5})
                          .constant("w", counted({6, 4, 3, 3}))
                          .node("Conv", {"x", "w"}, {"y"})
                          .graph({"y"});
  const Graph parts = passed(graph, {.pieces = {{"Conv_0", 2}, {"Conv_0/part1", 3}}});
  EXPECT_EQ(number_of(parts, "Conv"), 4);
}

TEST(CutNodes, WhatNothingIsKnownOfStays) {
  const Graph graph = passed(Sketch()
                                 .input("x", {4, 8})
                                 .node("Softmax", {"x"}, {"y"}, {{"axis", std::int64_t{1}}})
                                 .graph({"y"}),
                             {.pieces = {{"Softmax_0", 4}}});
  EXPECT_EQ(graph.nodes.size(), 1U);
}

TEST(CutNodes, CutsWeightsWhereTheyAreMeant) {
  NetworkBuilder network("rows", 2);
  network.output(
      network.node("MatMul", {network.input("x", {64, 8}), network.parameter({8, 48}, 8)}));
  PassOptions options;
  const Graph whole = passed(network.finish(), options);
  options.pieces[whole.nodes[0].name] = 3;
  const Graph rows = passed(whole, options);
  options.weights_in_pieces = {whole.nodes[0].name};
  const Graph columns = passed(whole, options);
  const auto constants = [](const Graph& graph) {
    return std::ranges::count(graph.tensors, GraphTensor::Kind::constant, &GraphTensor::kind);
  };
  EXPECT_EQ(constants(columns), constants(rows) + 3);
  EXPECT_EQ(std::ranges::count(columns.nodes, "MatMul", &Node::op), 3);
  const std::vector<NamedTensor> inputs = inputs_of(whole);
  EXPECT_EQ(reference_outputs(columns, inputs)[0].value, reference_outputs(whole, inputs)[0].value);
}

}  // namespace
}  // namespace morton::test
