// SPDX-License-Identifier: Apache-2.0
//
// Chains of operators: epilogues in their kernel or behind it, padding between products, memory
// that is used again.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/numbers/checked.hpp"
#include "device/catalogue/catalogue_runs.hpp"
#include "device/plan_memory.hpp"
#include "ops/core/operator.hpp"
#include "passes/pipeline.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr DataKind kKinds[] = {DataKind::integers, DataKind::zero_mean, DataKind::same_sign};
constexpr Execution kExecutions[] = {Execution::guarded, Execution::runner};

class CatalogueFusion : public test::DeviceTest {
 protected:
  /// Runs the graphs with this kernel for gemm, guarded and as sessions do.
  void run(const std::string& gemm, const std::vector<TestGraph>& graphs) {
    const Way way{.name = gemm, .family = "gemm", .use = {{"gemm", gemm}}, .kernels = {}};
    for (const Execution execution : kExecutions) {
      const WayReport report = run_graphs(shared_device(), catalogue_, way, graphs, execution);
      EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
    }
  }
  /// Kernels whose operands are rounded are tried on rounded data elsewhere.
  [[nodiscard]] static bool stores_less(const Entry& entry) {
    return std::any_of(entry.operands.begin(), entry.operands.end(),
                       [](const auto& operand) { return operand.second.stored.has_value(); });
  }
  [[nodiscard]] bool needs_another_device(const Entry& entry) const {
    Environment facts = environment_of(device().info());
    for (const auto& [name, value] : standard_tunables(entry, facts)) facts[name] = value;
    return std::any_of(entry.require.begin(), entry.require.end(), [&](const Expression& e) {
      const auto names = e.variables();
      const bool of_device = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return facts.contains(name);
      });
      return of_device && e.evaluate(facts) == 0;
    });
  }
  /// The products to try: all; in a short run every tenth from `turn` on.
  [[nodiscard]] std::vector<std::string> gemms(std::size_t turn) const {
    std::vector<std::string> names;
    const std::vector<std::string> all = all_gemms();
    const std::size_t step = test::is_long_run() ? 1 : 10;
    for (std::size_t i = turn % step; i < all.size(); i += step) names.push_back(all[i]);
    return names;
  }
  [[nodiscard]] std::vector<std::string> all_gemms() const {
    std::vector<std::string> names;
    for (const Entry& entry : catalogue_.entries()) {
      if (entry.family != families::gemm || !entry.call.library.empty()) continue;
      if (stores_less(entry) || needs_another_device(entry)) continue;
      if (is_for_vectors(entry)) continue;  // these products have more columns
      names.push_back(entry.name);
    }
    return names;
  }

  Catalogue catalogue_ = Catalogue::standard();
};
MORTON_ON_EVERY_DEVICE(CatalogueFusion);

std::vector<TestGraph> graphs_of(const std::string& op, const std::vector<std::string>& lines) {
  std::vector<TestGraph> graphs;
  for (const std::string& line : lines) {
    const OperatorCase test = parse_case(op, line, "catalogue_fusion_test");
    for (const DataKind kind : kKinds) graphs.push_back(to_test_graph(test, kind));
  }
  return graphs;
}

TEST_P(CatalogueFusion, ChainsOfFiveElementwiseOperatorsBroadcast) {
  run("gemm.naive",
      graphs_of("Add", {"constants | 3x1x5 1x7x1! | | Mul(3x7x1!) Sub(5!) Div(1x7x1!) Tanh",
                        "given     | 3x7x5 3x7x5  | | Mul(7x1) Sub(scalar) Div(3x1x1) Add(1x1x5)",
                        "grows     | 17 3x1!      | | Mul(5x1x1) Sub(17) Relu Add(5x3x17!)",
                        "twice     | 63 63!       | | Sigmoid Mul(63) Tanh Sub(1!)",
                        "exact     | 2x3x17 3x1!  | | Mul(17!) Sub(2x1x1) Add(scalar!) Relu"}));
}

TEST_P(CatalogueFusion, EpiloguesAreRightInTheKernelAndBehindIt) {
  const auto graphs =
      graphs_of("Gemm", {"bias    | 9x31 31x17! 17! | | Relu",
                         "row     | 33x9 9x35!      | | Mul(35!) Add(35)",
                         "column  | 33x9 9x35!      | | Mul(33x1!) Add(33x1) Tanh",
                         "whole   | 7x5 5x33        | | Add(7x33) Relu Sub(7x33!)",
                         "scalars | 9x31 31x17!     | | Mul(scalar!) Add(1!) Sigmoid",
                         "grows   | 9x5 5x17!       | | Add(3x9x17!) Relu"});
  for (const std::string& gemm : gemms(0)) run(gemm, graphs);
}

/// A sigmoid makes 0.5 of a padding of zeros; the next product must not add it up.
TEST_P(CatalogueFusion, PaddingDoesNotReachTheNextProduct) {
  const auto graphs = graphs_of(
      "MatMul", {"thin  | 3x5 5x3!    | | Sigmoid MatMul(3x7!) Sigmoid MatMul(7x1!)",
                 "odd   | 9x31 31x17! | | Sigmoid MatMul(17x33!) Sigmoid MatMul(33x5!) Sigmoid",
                 "given | 17x3 3x63   | | Sigmoid Add(63) MatMul(63x9) Sigmoid",
                 "exact | 9x3 3x5!    | | Add(5!) MatMul(5x7!) Sub(9x1!)"});
  for (const std::string& gemm : gemms(1)) run(gemm, graphs);
}

/// Padding behind alone: coordinates that spell the whole tensor, and yet leave it.
TEST_P(CatalogueFusion, PaddingBehindAloneIsReadAsZero) {
  const auto graphs = graphs_of("Conv", {"behind | 2x3x5x4 5x3x1x1! 5! | pads=[0,0,1,2] | Relu",
                                         "row    | 1x2x7x3 3x2x3x1! 3! | pads=[0,0,0,3] | Relu"});
  std::vector<std::string> packs{"pack.generic"};
  if (device().info().kind == DeviceInfo::Kind::cpu) packs.emplace_back("pack.runs");
  for (const std::string& pack : packs) {
    for (const char* conv : {"conv2d.r18_morton", "conv2d.im2col_gemm"}) {
      const Way way{.name = conv + (" with " + pack),
                    .family = "conv2d",
                    .use = {{"conv2d", conv}, {"pack", pack}},
                    .kernels = {}};
      const WayReport report =
          run_graphs(shared_device(), catalogue_, way, graphs, Execution::guarded);
      EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
    }
  }
}

/// y = sigmoid(w2 * sigmoid(w1 * x)) ..., or with another operator in the place of the sigmoid:
/// each result is the next product's rhs, which for Morton 4-2 needs no repacking.
TestGraph tower(const std::vector<Shape>& weights, std::int64_t columns,
                const std::string& between = "Sigmoid") {
  TestGraph test;
  test.name = "tower of " + std::to_string(weights.size()) + " products, " +
              std::to_string(columns) + " columns";
  Graph& graph = test.graph;
  const auto values = [](const Shape& shape, int seed) {
    Tensor tensor = Tensor::allocate(DType::f32, shape);
    int i = seed;
    for (float& value : tensor.as_mutable<float>())
      value = static_cast<float>(i++ * 37 % 101 - 50) / 64;
    return tensor;
  };
  const Shape shape{weights.front()[1], columns};
  test.inputs = {{"x", values(shape, 5)}};
  GraphTensor x{.name = "x", .kind = GraphTensor::Kind::input, .shape = shape};
  for (const std::int64_t extent : shape) x.declared.push_back({extent, ""});
  TensorId result = graph.add_tensor(std::move(x));
  graph.inputs = {result};
  const auto add_node = [&](const std::string& op, const std::vector<TensorId>& inputs) {
    Node node{.op = op, .name = op + std::to_string(graph.nodes.size()), .inputs = inputs};
    const TensorType type = infer(graph, node)[0];
    result = graph.add_tensor({.name = "t" + std::to_string(graph.nodes.size()),
                               .dtype = type.dtype,
                               .shape = type.shape});
    node.outputs = {result};
    graph.nodes.push_back(std::move(node));
  };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    GraphTensor w{.name = "w" + std::to_string(i),
                  .kind = GraphTensor::Kind::constant,
                  .shape = weights[i],
                  .data = values(weights[i], static_cast<int>(i))};
    const TensorId id = graph.add_tensor(std::move(w));
    add_node("MatMul", {id, result});
    add_node(between, {result});
  }
  graph.tensor(result).name = "y";
  graph.outputs = {result};
  return test;
}

TEST_P(CatalogueFusion, TowersOfProductsKeepTheirPaddingOut) {
  const std::vector<TestGraph> graphs = {tower({{3, 5}, {7, 3}}, 1),
                                         tower({{9, 31}, {17, 9}, {33, 17}, {1, 33}}, 17),
                                         tower({{8, 4}, {33, 8}, {5, 33}, {9, 5}, {3, 9}}, 33)};
  for (const std::string& gemm : gemms(2)) run(gemm, graphs);
}

/// Kernels with generated accessors can write their reader's format, but not its padding.
TEST_P(CatalogueFusion, ProducersDoNotLeavePaddingThatTheirReaderNeeds) {
  std::vector<TestGraph> graphs;
  const auto add = [&](const std::string& op, const std::vector<std::string>& lines) {
    for (TestGraph& test : graphs_of(op, lines)) graphs.push_back(std::move(test));
  };
  add("Softmax", {"lhs | 9x31 | | MatMul(31x17!)"});
  add("Conv", {"conv | 2x3x5x6 5x3x3x2! 5! | pads=[1,0,0,1] | Relu Conv(7x5x2x3!) Relu"});
  add("MaxPool", {"pool | 1x5x6x7 | kernel_shape=[2,3] | Conv(3x5x1x1!;3!) Tanh",
                  "flat | 3x5x6x7 | kernel_shape=[2,3] | Flatten MatMul(125x9!)"});
  add("Add", {"flat | 3x5x2x7 5x1x1! | | Flatten MatMul(70x9!) Tanh"});
  add("Relu", {"deep | 3x5x2x7       | | Flatten MatMul(70x9!) Relu Reshape([1,9,3,1]) Sigmoid"});
  graphs.push_back(tower({{9, 31}, {17, 9}, {33, 17}}, 17, "Softmax"));
  graphs.push_back(tower({{1, 3}, {5, 1}}, 1, "Softmax"));
  for (const std::string& gemm : gemms(3)) run(gemm, graphs);
}

/// Runs with other inputs follow each other in the memory that earlier ones left.
TEST_P(CatalogueFusion, RecycledMemoryDoesNotMatter) {
  const TestGraph test = tower({{9, 31}, {17, 9}, {33, 17}, {7, 33}, {5, 7}}, 17);
  for (const std::string& gemm : gemms(4)) {
    SCOPED_TRACE(gemm);
    Graph graph = test.graph;
    run_passes(graph, {});
    PlanOptions options;
    options.use = {{"gemm", gemm}};
    const Plan plan = make_plan(graph, catalogue_, device().info(), options);
    std::int64_t values = 0;
    for (const Value& value : plan.values) {
      if (is_fixed(value)) continue;
      values += round_up(value.bytes, device().info().memory.base_alignment_bytes);
    }
    EXPECT_LT(block_bytes(plan, PlannedBlock::Kind::activations) +
                  block_bytes(plan, PlannedBlock::Kind::workspace),
              values)
        << "nothing is recycled";
    Runner runner(std::make_shared<LoadedPlan>(plan, shared_device()),
                  OpenClDevice::QueueKind::plain);
    poison(runner);
    for (int round = 0; round < 4; ++round) {
      std::vector<NamedTensor> inputs = {{"x", test.inputs[0].tensor.clone()}};
      for (float& value : inputs[0].tensor.as_mutable<float>())
        value *= static_cast<float>(round - 1);
      runner.write(runner.input("x"), inputs[0].tensor);
      runner.enqueue();
      Tensor got = Tensor::allocate(DType::f32, {5, 17});
      runner.read(runner.output("y"), got);
      const Comparison comparison =
          compare(reference_outputs(test.graph, inputs)[0], got.as<float>());
      EXPECT_TRUE(comparison.ok()) << "round " << round << ": " << comparison.text;
      EXPECT_EQ(comparison.count, 5 * 17);
    }
  }
}

}  // namespace
}  // namespace morton::test
