// SPDX-License-Identifier: Apache-2.0
//
// Operators on tensors that lie in memory as halves: what comes before and behind a case's node
// makes its operands and its result activations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device/catalogue/catalogue_runs.hpp"
#include "passes/pipeline.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

Tensor negated(const Tensor& tensor) {
  Tensor result = Tensor::allocate(tensor.dtype(), tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set(i, -tensor.at(i));
  return result;
}

Node node_of(const std::string& op, TensorId from, TensorId to) {
  Node node;
  node.name = op + " beside the case " + std::to_string(to.index());
  node.op = op;
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

void give_shapes(Graph& graph) {
  PassOptions options;
  for (const Pass& pass : all_passes()) {
    if (pass.need == Pass::Need::optional) options.skip.emplace_back(pass.name);
  }
  run_passes(graph, options);
}

/// The case of one node, between negations of its inputs and a transposition of its result.
TestGraph among_activations(TestGraph test) {
  Graph& graph = test.graph;
  std::vector<Node> nodes;
  Node& own = graph.nodes.front();
  for (NamedTensor& input : test.inputs) {
    const TensorId id = graph.find(input.name);
    if (input.tensor.dtype() != DType::f32 || std::ranges::count(own.inputs, id) == 0) continue;
    const TensorId inner = graph.add_tensor({.name = input.name + " negated"});
    nodes.push_back(node_of("Neg", id, inner));
    std::ranges::replace(own.inputs, id, inner);
    input.tensor = negated(input.tensor);
  }
  nodes.push_back(own);
  TensorId& output = graph.outputs.front();
  graph.tensor(output).name = "y before";
  const TensorId turned = graph.add_tensor({.name = "y"});
  nodes.push_back(node_of("Transpose", output, turned));
  output = turned;
  graph.nodes = std::move(nodes);
  return test;
}

/// Of BatchNormalization passes make other constants, which are rounded in place of the case's.
bool is_of_f32(const TestGraph& test) {
  return test.graph.nodes.front().op != "BatchNormalization" && test.graph.nodes.size() == 1 &&
         test.graph.nodes.front().outputs.size() == 1 &&
         std::ranges::any_of(test.inputs, [](const NamedTensor& input) {
           return input.tensor.dtype() == DType::f32;
         });
}

class CatalogueHalves : public test::DeviceTest {
 protected:
  void compute(DType type) {
    const std::size_t stride = test::is_long_run() ? 1 : 30;
    std::vector<TestGraph> graphs;
    std::size_t place = type == DType::f16 ? 0 : stride / 2;
    for (const OperatorCase& test : shipped_cases()) {
      TestGraph graph = to_test_graph(test, DataKind::zero_mean);
      if (!is_of_f32(graph) || place++ % stride != 0) continue;
      graph.check = TestGraph::Check::bound;
      graph = among_activations(std::move(graph));
      const std::size_t stated = graph.graph.nodes.size();
      give_shapes(graph.graph);
      // Of a node that is written out as several what lies between them is rounded, too.
      if (graph.graph.nodes.size() == stated) graphs.push_back(std::move(graph));
    }
    ASSERT_GE(graphs.size(), 20U);
    Way way;
    way.name = std::string(name_of(type));
    way.precision = type;
    way.result = type;
    // Its transformed numbers are rounded, too, for which model_precision_test has a bound.
    way.exclude = {"conv2d.winograd_2x2"};
    const Catalogue catalogue = Catalogue::standard();
    const WayReport report =
        run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
    EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
  }
};
MORTON_ON_EVERY_DEVICE(CatalogueHalves);

TEST_P(CatalogueHalves, ComputeTheirCasesInF16) { compute(DType::f16); }
TEST_P(CatalogueHalves, ComputeTheirCasesInBf16) { compute(DType::bf16); }

}  // namespace
}  // namespace morton::test
