// SPDX-License-Identifier: Apache-2.0
//
// The gradients of every operator as a device computes them, beside the same graphs in double
// (which tests/host/autodiff/autodiff_gradients_test.cpp holds to central differences).
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "autodiff/gradients.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "device/catalogue/catalogue_runs.hpp"
#include "ops/core/graph_writer.hpp"
#include "support/cases.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class CatalogueGradients : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(CatalogueGradients);

/// Cases of an operator that a short run tries.
constexpr int kCasesOfAnOperator = 1;

bool is_real(const GraphTensor& tensor) {
  return tensor.dtype == DType::f32 && element_count(tensor.shape) > 0;
}

/// Operators that are steep or undefined where an operand is 0 or below.
DataKind kind_for(const OperatorCase& test) {
  static const std::set<std::string> kPositive{"Log",        "Sqrt", "Pow",          "Acosh",
                                               "Reciprocal", "Div",  "ReduceLogSum", "Atanh"};
  return kPositive.contains(test.op) ? DataKind::same_sign : DataKind::zero_mean;
}

/// The gradient of the sum of w * y, w being random, with respect to one of the case's operands;
/// nothing where there is none.
std::optional<TestGraph> gradient_graph(const OperatorCase& test, std::size_t operand) {
  TestGraph made = to_test_graph(test, kind_for(test));
  made.check = TestGraph::Check::bound;
  Graph& graph = made.graph;
  const TensorId y = graph.outputs.front();
  if (!is_real(graph.tensor(y))) return std::nullopt;
  std::vector<TensorId> wanted;
  for (const TensorId id : graph.tensors.ids()) {
    const GraphTensor& tensor = graph.tensors[id];
    if (tensor.kind != GraphTensor::Kind::activation && is_real(tensor)) {
      wanted.push_back(id);
    }
  }
  if (operand >= wanted.size()) return std::nullopt;
  GraphWriter writer(graph, "loss");
  const TensorId w = writer.constant(random_tensor(graph.tensor(y).shape, 5));
  const TensorId product = writer.apply(ScalarOp::mul, {y, w});
  const std::int64_t count = element_count(graph.tensor(y).shape);
  const TensorId loss = writer.sum(writer.reshaped(product, {count}), {0});
  TensorId gradient = kNoTensor;
  try {
    const TensorId asked = wanted[operand];
    gradient = add_gradients(graph, loss, std::span(&asked, 1)).front();
  } catch (const UnsupportedError&) {
    return std::nullopt;  // the host's test lists the operators without one
  }
  if (gradient == kNoTensor) return std::nullopt;
  graph.tensor(y).name = "result";
  // A gradient may be a tensor of the forward pass itself, which is no result of its own.
  graph.outputs = {writer.apply(ScalarOp::neg, {gradient})};
  graph.tensor(graph.outputs.front()).name = "y";
  made.name += ", gradient of '" + graph.tensor(wanted[operand]).name + "'";
  return made;
}

TEST_P(CatalogueGradients, AreThoseOfTheReference) {
  std::map<std::string, int> tried;
  std::vector<TestGraph> graphs;
  for (const OperatorCase& test : shipped_cases()) {
    if (!test.small || test.op == "MaxPoolGradient") continue;
    if (!test::is_long_run() && tried[test.op] >= kCasesOfAnOperator) continue;
    bool any = false;
    for (std::size_t operand = 0; operand < 3; ++operand) {
      auto graph = gradient_graph(test, operand);
      any = any || graph.has_value();
      if (graph) graphs.push_back(std::move(*graph));
    }
    tried[test.op] += any ? 1 : 0;
  }
  const Catalogue catalogue = Catalogue::standard();
  Way way;
  way.name = "gradients";
  const WayReport report = run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
  std::cout << print(way, report);
  EXPECT_EQ(report.graphs, static_cast<int>(graphs.size()));
  EXPECT_GE(report.graphs, 100);
}

}  // namespace
}  // namespace morton::test
