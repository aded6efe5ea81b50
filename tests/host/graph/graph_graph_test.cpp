// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "graph/graph_digest.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

/// x -> first -> a -> second(a, w) -> y.
Graph small_graph() {
  Graph graph;
  graph.name = "small";
  GraphTensor x{.name = "x", .kind = GraphTensor::Kind::input, .shape = {3}};
  GraphTensor w{.name = "w", .kind = GraphTensor::Kind::constant, .shape = {3}};
  w.data = Tensor::allocate(DType::f32, {3});
  graph.add_tensor(x);
  graph.add_tensor(w);
  graph.add_tensor({.name = "a", .shape = {3}});
  graph.add_tensor({.name = "y", .shape = {3}});
  graph.nodes = {{.op = "Relu", .name = "first", .inputs = {TensorId(0)}, .outputs = {TensorId(2)}},
                 {.op = "Add",
                  .name = "second",
                  .inputs = {TensorId(2), TensorId(1)},
                  .outputs = {TensorId(3)}}};
  graph.inputs = {TensorId(0)};
  graph.outputs = {TensorId(3)};
  return graph;
}

std::string error_of(const std::function<void(Graph&)>& damage) {
  Graph graph = small_graph();
  damage(graph);
  try {
    verify(graph, "test");
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(Graph, FindsTensorsProducersAndConsumers) {
  const Graph graph = small_graph();
  EXPECT_EQ(graph.find("a"), TensorId(2));
  EXPECT_EQ(graph.find("b"), kNoTensor);
  EXPECT_EQ(graph.producer(TensorId(2)), NodeId(0));
  EXPECT_EQ(graph.producer(TensorId(0)), NodeId());
  EXPECT_EQ(graph.consumers(TensorId(2)), std::vector<NodeId>{NodeId(1)});
  EXPECT_THROW((void)graph.tensor(TensorId(7)), InternalError);
}

TEST(Graph, VerifiesASoundGraph) {
  EXPECT_EQ(error_of([](Graph&) {}), "");
}

TEST(Graph, VerifyNamesWhatIsWrong) {
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[0].inputs[0] = TensorId(9); }),
              HasSubstr("tensor 9 of 4"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[0].inputs[0] = TensorId(-2); }), HasSubstr("first"));
  EXPECT_THAT(error_of([](Graph& g) { g.outputs = {TensorId(4)}; }),
              HasSubstr("outputs of the graph"));
  EXPECT_THAT(error_of([](Graph& g) { g.inputs = {TensorId(2)}; }), HasSubstr("'a'"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[1].name = "first"; }), HasSubstr("two nodes"));
  EXPECT_THAT(error_of([](Graph& g) { g.tensor(TensorId(2)).name = "x"; }),
              HasSubstr("two tensors"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[1].outputs = {TensorId(2)}; }),
              HasSubstr("two nodes compute"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[1].outputs = {TensorId(1)}; }),
              HasSubstr("writes 'w'"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[1].outputs = {}; }), HasSubstr("no outputs"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes.pop_back(); }), HasSubstr("computes the output 'y'"));
  EXPECT_THAT(error_of([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }),
              HasSubstr("no earlier node computes"));
  EXPECT_THAT(error_of([](Graph& g) { g.tensor(TensorId(1)).data = Tensor(); }), HasSubstr("'w'"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[0].epilogue.input_count = 3; }),
              HasSubstr("its epilogue reads 3"));
  EXPECT_THAT(error_of([](Graph& g) { g.nodes[0].epilogue.result = ScalarRef::step(0); }),
              HasSubstr("its epilogue refers"));
}

TEST(Graph, SortsTopologically) {
  Graph graph = small_graph();
  std::swap(graph.nodes[0], graph.nodes[1]);
  sort_topologically(graph);
  EXPECT_EQ(graph.nodes[0].name, "first");
  verify(graph, "test");
}

TEST(Graph, SortingKeepsASortedOrder) {
  Graph graph = small_graph();
  for (const char* name : {"c", "d", "e"}) {
    const TensorId id = graph.add_tensor({.name = name});
    graph.nodes.push_back({.op = "Relu", .name = name, .inputs = {TensorId(0)}, .outputs = {id}});
  }
  std::vector<std::string> before;
  for (const Node& node : graph.nodes) before.push_back(node.name);
  sort_topologically(graph);
  std::vector<std::string> after;
  for (const Node& node : graph.nodes) after.push_back(node.name);
  EXPECT_EQ(before, after);
}

TEST(Graph, NamesTheNodesOfACycle) {
  Graph graph = small_graph();
  const TensorId later = graph.add_tensor({.name = "later"});
  graph.nodes.push_back(
      {.op = "Relu", .name = "third", .inputs = {TensorId(3)}, .outputs = {later}});
  graph.nodes[0].inputs = {TensorId(3)};
  try {
    sort_topologically(graph);
    FAIL() << "a cycle went unnoticed";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cycle"));
    EXPECT_THAT(error.what(), HasSubstr("'first' -> 'second' -> 'first'"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("third")));
  }
  graph.nodes[0].inputs = {TensorId(2)};
  EXPECT_THROW(sort_topologically(graph), ModelError) << "a node that reads its own output";
}

TEST(Graph, Prints) {
  Graph graph = small_graph();
  graph.nodes[0].epilogue.append(ScalarOp::tanh, {ScalarRef::input(0)});
  graph.nodes[1].attributes["axis"] = std::vector<std::int64_t>{1, 2};
  EXPECT_THAT(print(graph), HasSubstr("a 3 = Relu(x 3) then tanh(v)"));
  EXPECT_THAT(print(graph), HasSubstr("y 3 = Add(a 3, w 3) axis=[1,2]"));
  graph.nodes[0].name = "quo\"te";
  const std::string dot = print_dot(graph);
  EXPECT_THAT(dot, HasSubstr("n0 -> n1"));
  EXPECT_THAT(dot, HasSubstr("quo\\\"te"));
}

TEST(GraphDigest, TellsGraphsApart) {
  const Graph graph = make_small_cnn(3);
  EXPECT_EQ(graph_digest(graph), graph_digest(make_small_cnn(3)));
  EXPECT_NE(graph_digest(graph), graph_digest(make_small_cnn(4))) << "other weights";
  Graph other = graph;
  other.nodes[0].attributes["strides"] = std::vector<std::int64_t>{2, 1};
  EXPECT_NE(graph_digest(graph), graph_digest(other));
  other = graph;
  other.nodes[0].name += "'";
  EXPECT_NE(graph_digest(graph), graph_digest(other));
  other = graph;
  std::swap(other.outputs[0], other.inputs[0]);
  EXPECT_NE(graph_digest(graph), graph_digest(other));
}

}  // namespace
}  // namespace morton::test
