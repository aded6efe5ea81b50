// SPDX-License-Identifier: Apache-2.0
//
// What lies between convolutions whose tensors lie in blocks of channels: gates, joins and
// transposes that read or write blocks, where a case of one operator has its tensors as they come.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::uint64_t kBlocksSeed = 5;
constexpr std::int64_t kBatch = 2, kHeight = 3, kWidth = 5;
/// No multiple of any block, so that the last block has padding; and a multiple of all.
constexpr std::int64_t kOdd = 20, kWhole = 32;

class Between {
 public:
  Between() : network_("between", kBlocksSeed) {}

  TensorId given(const std::string& name, std::int64_t channels) {
    const Shape shape{kBatch, channels, kHeight, kWidth};
    inputs_.push_back({name, random_tensor(shape, kBlocksSeed + inputs_.size())});
    return network_.input(name, {-1, channels, kHeight, kWidth});
  }
  /// The result of a convolution.
  TensorId blocks(std::int64_t channels) {
    const TensorId input = given("x", 3);
    return network_.relu(network_.conv(input, 3, channels, {.size = 3, .pad = 1}));
  }
  NetworkBuilder& network() { return network_; }
  TestGraph read_by_convolution(const std::string& name, TensorId result, std::int64_t channels) {
    network_.output(network_.conv(result, channels, 9, {.size = 1}));
    TestGraph test{
        .name = name, .graph = with_shapes(network_.finish(), kBatch), .inputs = inputs_};
    for (const TensorId id : test.graph.inputs) test.graph.tensor(id).declared[0] = {kBatch, ""};
    test.graph.tensor(test.graph.outputs[0]).name = "y";
    return test;
  }

 private:
  NetworkBuilder network_;
  std::vector<NamedTensor> inputs_;
};

/// Each channel of a result times what the gate makes of the result.
TestGraph gated(std::int64_t channels) {
  Between between;
  NetworkBuilder& network = between.network();
  const TensorId x = between.blocks(channels);
  const TensorId gate = network.node("Sigmoid", {network.node("GlobalAveragePool", {x})});
  return between.read_by_convolution("gated", network.node("Mul", {x, gate}), channels);
}

/// A result and a tensor as it comes, one behind the other, each channel scaled.
TestGraph joined(std::int64_t channels, std::int64_t more) {
  Between between;
  NetworkBuilder& network = between.network();
  const TensorId x = between.blocks(channels);
  const TensorId y = between.given("more", more);
  const TensorId both = network.node("Concat", {x, y}, {{"axis", std::int64_t{1}}});
  const TensorId scale = network.parameter({channels + more, 1, 1}, 1);
  return between.read_by_convolution("joined", network.relu(network.node("Mul", {both, scale})),
                                     channels + more);
}

/// Channels in another order, as ShuffleNet has it.
TestGraph shuffled(std::int64_t channels) {
  Between between;
  NetworkBuilder& network = between.network();
  const TensorId x = between.blocks(channels);
  const std::vector<std::int64_t> order{0, 2, 1, 3, 4};
  const TensorId split =
      network.node("Reshape", {x, network.list({kBatch, 2, channels / 2, kHeight, kWidth})});
  const TensorId turned = network.node("Transpose", {split}, {{"perm", order}});
  const TensorId back =
      network.node("Reshape", {turned, network.list({kBatch, channels, kHeight, kWidth})});
  return between.read_by_convolution("shuffled", back, channels);
}

/// Whether some step by the kernel reads or writes a tensor of images in blocks of channels.
bool meets_blocks(const Plan& plan, const std::string& kernel) {
  const auto is_in_blocks = [&](ValueId id) {
    const Arrangement& arrangement = plan.values[id].arrangement;
    return arrangement.tensor_shape.size() == 4 && arrangement.layout.loops().size() == 5;
  };
  return std::ranges::any_of(plan.steps, [&](const Step& step) {
    return step.kernel == kernel && (std::ranges::any_of(step.reads, is_in_blocks) ||
                                     std::ranges::any_of(step.writes, is_in_blocks));
  });
}

class CatalogueBlocks : public DeviceTest {
 protected:
  void run(Execution execution) {
    if (device().info().kind != DeviceInfo::Kind::cpu) {
      GTEST_SKIP() << "these blocks of channels are for CPUs";
    }
    const std::map<std::string, std::vector<TestGraph>> graphs = {
        {"elementwise.ranges", {gated(kOdd), gated(kWhole), joined(kWhole, kWhole)}},
        {"pack.part_lines", {joined(kOdd, 7), joined(kWhole, kWhole)}},
        {"pack.runs", {shuffled(kWhole), shuffled(kOdd)}}};
    const Catalogue catalogue = Catalogue::standard();
    for (const auto& [kernel, tests] : graphs) {
      Way way{.name = kernel + " between conv2d.blocks_32",
              .family = "conv2d",
              .use = {{"conv2d", "conv2d.blocks_32"}},
              .kernels = {kernel}};
      // A pack is chosen for each place; of the others an estimate must not take another kernel.
      if (kernel == "elementwise.ranges") way.use["elementwise"] = kernel;
      for (const TestGraph& test : tests) {
        const TriedPlan tried = try_plan(test, device().info(), catalogue, way);
        ASSERT_TRUE(tried.plan) << tried.refusal;
        EXPECT_TRUE(meets_blocks(*tried.plan, kernel)) << kernel << " of " << test.name;
      }
      const WayReport report = run_graphs(shared_device(), catalogue, way, tests, execution);
      EXPECT_EQ(report.graphs, static_cast<int>(tests.size()));
    }
  }
};
MORTON_ON_EVERY_DEVICE(CatalogueBlocks);

TEST_P(CatalogueBlocks, AreReadAndWrittenBetweenConvolutions) { run(Execution::guarded); }

class CatalogueBlocksOclgrind : public CatalogueBlocks {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CatalogueBlocksOclgrind);

TEST_P(CatalogueBlocksOclgrind, LeaveNothingToReport) { run(Execution::exact); }

INSTANTIATE_TEST_SUITE_P(Oclgrind, CatalogueBlocksOclgrind,
                         ::testing::ValuesIn(test::oclgrind_ids()), device_test_name);

}  // namespace
}  // namespace morton::test
