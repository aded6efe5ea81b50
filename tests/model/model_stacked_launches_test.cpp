// SPDX-License-Identifier: Apache-2.0
//
// Equal kernels in one launch: the same answers as one by one, with local memory and barriers too,
// at other extents too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using Launches = CompileOptions::Launches;

/// Three products of one input, as those that make an encoder's queries, keys and values; batch
/// open.
Graph three_products() {
  NetworkBuilder network("three_products", 1);
  const TensorId x = network.input("x", {-1, 24});
  for (int i = 0; i < 3; ++i) network.output(network.dense(x, 24, 16));
  return network.finish();
}

class StackedLaunches : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(StackedLaunches);

CompileOptions with(const std::string& kernel, Launches launches) {
  CompileOptions options;
  options.batch = 4;
  options.use = {{"gemm", kernel}};
  options.launches = launches;
  options.self_test = CompileOptions::SelfTest::off;
  return options;
}

/// Steps of products.
std::size_t products(const CompiledModel& model, const std::string& kernel) {
  return static_cast<std::size_t>(std::ranges::count(model.steps(), kernel, &StepInfo::kernel));
}

TEST_P(StackedLaunches, GiveTheSameValues) {
  const Graph graph = three_products();
  const Model model = to_model(graph);
  const auto inputs = random_inputs(graph, 4, 7);
  bool tried = false;
  for (const std::string kernel : {"gemm.local_tile", "gemm.sliced"}) {
    SCOPED_TRACE(kernel);
    std::vector<std::vector<NamedTensor>> outputs;
    std::vector<std::size_t> steps;
    for (const Launches launches : {Launches::apart, Launches::joined}) {
      try {
        const CompiledModel compiled = compile(model, device(), with(kernel, launches));
        steps.push_back(products(compiled, kernel));
        outputs.push_back(Session(compiled).run(inputs));
      } catch (const UnsupportedError&) {
        break;  // not for this device
      }
    }
    if (outputs.empty()) continue;
    tried = true;
    EXPECT_THAT(steps, ::testing::ElementsAre(3, 1));
    for (std::size_t i = 0; i < outputs[0].size(); ++i) {
      EXPECT_THAT(outputs[1][i].tensor.as<float>(),
                  ::testing::ElementsAreArray(outputs[0][i].tensor.as<float>()));
    }
    expect_reference(graph, device(), inputs, with(kernel, Launches::joined));
  }
  EXPECT_TRUE(tried);
}

/// With more rows each product has work-groups enough for a launch of its own. That kernel is not
/// built: the stack goes on.
TEST_P(StackedLaunches, GoOnAtOtherExtents) {
  const Graph graph = three_products();
  CompileOptions options = with("gemm.local_tile", Launches::joined);
  options.other_shapes = CompileOptions::OtherShapes::leave;
  const CompiledModel few = compile(to_model(graph), device(), options);
  ASSERT_EQ(products(few, "gemm.local_tile"), 1U);
  constexpr std::int64_t kManyRows = 20000;
  const CompiledModel many = few.with_shapes({kManyRows, {}}, CompiledModel::Missing::refuse);
  EXPECT_EQ(products(many, "gemm.local_tile"), 1U);
  const auto inputs = random_inputs(graph, kManyRows, 8);
  const auto stacked = Session(many).run(inputs);
  options.batch = kManyRows;
  const CompiledModel anew = compile(to_model(graph), device(), options);
  EXPECT_EQ(products(anew, "gemm.local_tile"), 3U);
  const auto alone = Session(anew).run(inputs);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_THAT(stacked[i].tensor.as<float>(),
                ::testing::ElementsAreArray(alone[i].tensor.as<float>()));
  }
}

/// A product whose text some driver builds alone and not in a stack, which has that name too.
constexpr const char* kLonelyEntry = R"({
  "schema": 1, "name": "gemm.lonely", "problem": "gemm", "source": "lonely.cl", "function": "lonely",
  "operands": {
    "lhs": {"layout": "any", "types": ["f32"]},
    "rhs": {"layout": "any", "types": ["f32"]},
    "dst": {"layout": "any", "types": ["f32"]}
  },
  "edges": "guard", "arguments": ["M", "N", "K", "lhs", "rhs", "dst"],
  "global": ["N", "M"], "local": [16, 4], "epilogue": ["any"],
  "cost": {"flop": "2*M*N*K", "work": "1", "bytes": "4", "efficiency": {"cpu": 1.0, "gpu": 1.0}}
})";
constexpr const char* kLonelySource = R"(// SPDX-License-Identifier: Apache-2.0
__kernel ATTRIBUTES void lonely(ARGUMENTS) {
  const int stack_copy = get_global_id(1);
  const int n = get_global_id(0);
  TYPE_acc sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);  // for which kernels are stacked, not joined
  for (int k = 0; k < K && stack_copy < M && n < N; ++k) {
    sum += LOAD_lhs(stack_copy, k) * LOAD_rhs(k, n);
  }
  if (stack_copy < M && n < N) STORE_dst(stack_copy, n, EPILOGUE(sum, stack_copy, n));
}
)";

TEST_P(StackedLaunches, AreTakenApartWhereTheDriverDoesNotBuildThem) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "lonely.json") << kLonelyEntry;
  std::ofstream(folder.path() / "lonely.cl") << kLonelySource;
  const Graph graph = three_products();
  CompileOptions options = with("gemm.lonely", Launches::joined);
  options.catalogue_files = {(folder.path() / "lonely.json").string()};
  const CompiledModel compiled = compile(to_model(graph), device(), options);
  EXPECT_EQ(products(compiled, "gemm.lonely"), 3U);
  ASSERT_THAT(compiled.report().fallbacks, ::testing::SizeIs(1));
  EXPECT_THAT(
      compiled.report().fallbacks[0].print(),
      ::testing::AllOf(
          ::testing::StartsWith("the driver refuses a launch that kernels share (gemm.lonely): "),
          ::testing::EndsWith("; each kernel has a launch of its own")));
  expect_reference(graph, device(), random_inputs(graph, 4, 9), options);
  options.fallback = CompileOptions::Fallback::refuse;
  EXPECT_THROW((void)compile(to_model(graph), device(), options), UnsupportedError);
}

}  // namespace
}  // namespace morton::test
