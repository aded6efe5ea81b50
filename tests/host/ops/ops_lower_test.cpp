// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/pipeline.hpp"
#include "problems/solver.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::DataKind;

constexpr std::uint64_t kOpsLowerSeed = 11;
constexpr std::int64_t kMostWork = 4000;  // the solver is slow

/// The problem's dst as its family defines it, of these values of the graph's tensors.
ReferenceTensor solved(const Graph& graph, const BoundProblem& bound,
                       const Indexed<TensorId, ReferenceTensor>& values) {
  Indexed<TensorId, SolverTensor> tensors;
  for (const TensorId id : values.ids()) {
    tensors.add({graph.tensors[id].dtype, graph.tensors[id].shape, values[id].value});
  }
  const auto dst = bound.operands.at("dst").tensor;
  ReferenceTensor result;
  result.shape = graph.tensors[dst].shape;
  result.value = solve(bound, tensors);
  return result;
}

/// Joins what a part wrote with what the parts before it did.
void add_part(const ReferenceTensor& part, ReferenceTensor& whole) {
  if (whole.value.empty()) {
    whole = part;
    return;
  }
  for (std::size_t i = 0; i < part.value.size(); ++i) {
    if (std::isnan(part.value[i])) continue;
    ASSERT_TRUE(std::isnan(whole.value[i])) << "two parts write element " << i;
    whole.value[i] = part.value[i];
  }
}

/// Runs the graph node by node through `lower` and the solver (renaming nodes through the
/// reference).
ReferenceTensor solved_outputs(const Graph& graph, const std::vector<NamedTensor>& inputs) {
  Indexed<TensorId, ReferenceTensor> values(graph.tensors.size());
  for (const TensorId id : graph.tensors.ids()) {
    if (graph.tensors[id].kind == GraphTensor::Kind::constant) {
      values[id] = to_reference(graph.tensors[id].data);
    }
  }
  for (const auto& input : inputs) {
    values[graph.find(input.name)] = to_reference(input.tensor);
  }
  for (const Node& node : graph.nodes) {
    const TensorId output = node.outputs[0];
    if (operator_of(node).host.alias) {
      values[output] = values[node.inputs[0]];
      values[output].shape = graph.tensors[output].shape;
    } else if (operator_of(node).host.values != nullptr) {
      std::vector<ReferenceTensor> operands;
      for (const TensorId id : node.inputs) operands.push_back(values[id]);
      values[output] = reference(graph, node, operands);
    } else {
      for (const BoundProblem& bound : lower(graph, node)) {
        EXPECT_EQ(bound.problem.epilogue.input_count, static_cast<int>(bound.sides.size()) + 1);
        const auto dst = bound.operands.at("dst").tensor;
        const ReferenceTensor part = solved(graph, bound, values);
        add_part(part, values[dst]);
      }
    }
  }
  return values[graph.outputs[0]];
}

/// Passes that fold constants round them to f32.
enum class Constants : std::uint8_t { as_given, folded };

void expect_agreement(const ReferenceTensor& expected, const ReferenceTensor& got,
                      Constants constants = Constants::as_given) {
  ASSERT_EQ(expected.shape, got.shape);
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double rounding = constants == Constants::folded ? expected.error[i] : 0.0;
    const double tolerance = 1e-12 * (1.0 + std::fabs(expected.value[i])) + rounding;
    ASSERT_TRUE(test::matches(expected.value[i], tolerance, got.value[i]))
        << "element " << i << ": " << expected.value[i] << " and " << got.value[i];
  }
}

/// For every small case: the lowered problem, as it is and after the passes, has the reference's
/// value.
TEST(Lower, EveryCaseAgreesWithItsReference) {
  int count = 0;
  for (const auto& parsed : test::all_cases(MORTON_SOURCE_DIR "/tests/cases")) {
    if (test::work_of(parsed) > kMostWork) continue;
    SCOPED_TRACE(test::describe(parsed) + ", seed " + std::to_string(kOpsLowerSeed));
    Graph graph = test::make_graph(parsed, kOpsLowerSeed, DataKind::zero_mean);
    const auto inputs = test::make_inputs(parsed, kOpsLowerSeed, DataKind::zero_mean);
    const auto expected = test::reference_outputs(graph, inputs)[0];
    // What cannot be lowered as it is written.
    expand_composites(graph, {});
    expand_integer_products(graph, {});
    expand_composites(graph, {});
    expect_agreement(expected, test::reference_outputs(graph, inputs)[0]);
    expect_agreement(expected, solved_outputs(graph, inputs));
    run_passes(graph, {});
    // The biases of a recurrent cell are added up, and codes become the weights they stand for.
    const bool is_recurrent = parsed.op == "GRU" || parsed.op == "LSTM" || parsed.op == "RNN" ||
                              parsed.op == "com.microsoft.DynamicQuantizeLSTM";
    const bool folds = parsed.op == "BatchNormalization" || is_recurrent ||
                       parsed.op == "com.microsoft.MatMulNBits" ||
                       parsed.op.starts_with("ai.onnx.preview.training.");
    const Constants constants = folds ? Constants::folded : Constants::as_given;
    expect_agreement(expected, test::reference_outputs(graph, inputs)[0], constants);
    expect_agreement(expected, solved_outputs(graph, inputs), constants);
    ++count;
  }
  EXPECT_GT(count, 100);
}

BoundProblem lower_case(const std::string& op, const std::string& line) {
  const Graph graph = test::make_graph(test::parse_case(op, "t | " + line, "test"), kOpsLowerSeed,
                                       DataKind::zero_mean);
  return lower(graph, graph.nodes[0]).front();
}

TEST(Lower, GemmTransposesByGrouping) {
  const BoundProblem bound = lower_case("Gemm", "17x3 63x17 63 | transA=1 transB=1 alpha=0.5");
  EXPECT_EQ(bound.problem.extents, (Environment{{"K", 17}, {"M", 3}, {"N", 63}}));
  EXPECT_EQ(*bound.operands.at("lhs").view.grouping, (Grouping{{1}, {0}}));
  EXPECT_EQ(bound.problem.epilogue.print(), "add(mul(v, 0.5), s1)");
  EXPECT_EQ(bound.sides.at(0).shape, (Shape{63}));
  EXPECT_EQ(bound.problem.types.at("acc"), DType::f32);
  EXPECT_EQ(print(bound.problem), "gemm K=17 M=3 N=63 f32, add(mul(v, 0.5), s1)");
}

TEST(Lower, MatMulJoinsRows) {
  const BoundProblem bound = lower_case("MatMul", "2x3x17 17x5");
  EXPECT_EQ(bound.problem.extents,
            (Environment{{"K", 17}, {"M", 6}, {"M0", 2}, {"M1", 3}, {"N", 5}}));
  EXPECT_EQ(*bound.operands.at("dst").view.grouping, (Grouping{{0, 1}, {2}}));
}

TEST(Lower, ConvBroadcastsItsBiasAlongChannels) {
  const BoundProblem bound = lower_case("Conv", "2x4x9x8 6x2x3x3 6 | group=2 pads=[1,0,2,1]");
  EXPECT_EQ(bound.sides.at(0).shape, (Shape{6, 1, 1}));
  EXPECT_EQ(bound.problem.structure.at("G"), 2);
  EXPECT_EQ(bound.problem.structure.at("I"), 2);
  EXPECT_EQ(bound.problem.structure.at("PT"), 1);
  EXPECT_EQ(bound.problem.extents.at("OH"), 10);
}

TEST(Lower, ElementwiseTakesTheFullInputAsSource) {
  const BoundProblem bound = lower_case("Sub", "17 3x17");
  EXPECT_EQ(bound.operands.at("src0").tensor, TensorId(1));
  EXPECT_EQ(bound.problem.epilogue.print(), "sub(s1, v)");
  EXPECT_EQ(bound.sides.at(0).shape, (Shape{17}));
  EXPECT_TRUE(bound.operands.at("src0").view.grouping.has_value());
  EXPECT_FALSE(lower_case("Sub", "3x1 1x17").operands.at("src0").view.grouping.has_value());
}

TEST(Lower, RefusesWhatComputesNothing) {
  EXPECT_THROW((void)lower_case("Flatten", "2x3x5"), InternalError);
}

}  // namespace
}  // namespace morton::test
