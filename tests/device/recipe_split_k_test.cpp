// SPDX-License-Identifier: Apache-2.0
//
// Products that are split along K: parts of unequal length, parts of one element, too few elements
// to split, operands as they lie and transposed, an epilogue behind the sum; convolutions whose
// columns or channels are.
#include <gtest/gtest.h>

#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class SplitK : public test::DeviceTest {
 protected:
  /// All convolutions, of these operands and attributes, go this way and are right.
  void expect_all_convolutions(const Catalogue& catalogue, const Way& way,
                               const std::vector<std::string>& lines) const;
};
MORTON_ON_EVERY_DEVICE(SplitK);

constexpr std::int64_t kDepths[] = {1, 3, 17, 63, 100, 1000};

/// Products of odd sizes and this depth: alone, transposed, with a bias and an activation behind.
std::vector<TestGraph> products(std::int64_t depth, DataKind kind) {
  const std::string k = std::to_string(depth);
  std::vector<TestGraph> graphs;
  for (const std::string& line :
       {"row | 1x" + k + " " + k + "x17 | |", "column | 63x" + k + " " + k + "x1 | |",
        "both | " + k + "x17 63x" + k + " | transA=1 transB=1 |",
        "epilogue | 65x" + k + " " + k + "x35! 35! | | Relu Mul(65x1!)"}) {
    graphs.push_back(to_test_graph(parse_case("Gemm", line, "recipe_split_k_test"), kind));
  }
  return graphs;
}

Way split_in(std::int64_t parts, const std::string& kernel, const std::string& sum) {
  Way way{"gemm.split_k", "gemm", {{"gemm", "gemm.split_k"}, {"sum", sum}}, {sum}};
  if (!kernel.empty()) {
    way.use["batched_gemm"] = kernel;
    way.kernels.insert(kernel);
  }
  way.tunables["gemm.split_k"] = {{"S", parts}};
  return way;
}

TEST_P(SplitK, AddsUpWhateverTheDepth) {
  const Catalogue catalogue = Catalogue::standard();
  for (const std::int64_t parts : {2, 8, 16}) {
    // Two tiles of 64 x 64 for the last product's 65 rows: 32 work-groups, which every device
    // takes.
    for (const char* sum : {"sum.runs", "sum.single"}) {
      std::vector<TestGraph> graphs;
      int too_short = 0;
      for (const std::int64_t depth : kDepths) {
        for (TestGraph& graph : products(depth, DataKind::integers)) {
          too_short += depth < parts ? 1 : 0;
          graphs.push_back(std::move(graph));
        }
      }
      const Way way = split_in(parts, "batched_gemm.tile", sum);
      const WayReport report =
          run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
      EXPECT_EQ(report.graphs, static_cast<int>(graphs.size()) - too_short) << print(way, report);
      for (const auto& [reason, count] : report.refused) {
        const std::string why = "with S=" + std::to_string(parts) + ", it requires S <= K";
        EXPECT_NE(reason.find(why), std::string::npos) << reason;
        EXPECT_EQ(count, too_short);
      }
    }
  }
}

TEST_P(SplitK, ManyPartsOfOneElementAndOfUnequalLength) {
  const Catalogue catalogue = Catalogue::standard();
  for (const DataKind kind : {DataKind::zero_mean, DataKind::same_sign}) {
    std::vector<TestGraph> graphs;
    for (const char* line :
         {"one_each | 17x64 64x33 | |", "last_is_shorter | 3x100 100x63 | | Tanh",
          "fewer_than_asked | 63x65 65x1 | |", "long | 17x4099 4099x5 | |"}) {
      graphs.push_back(to_test_graph(parse_case("Gemm", line, "recipe_split_k_test"), kind));
    }
    const Way way = split_in(64, "batched_gemm.naive", "sum.runs");
    const WayReport report = run_graphs(shared_device(), catalogue, way, graphs, Execution::runner);
    EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
  }
}

TEST_P(SplitK, RoundsOperandsAsItsProductsDo) {
  const Catalogue catalogue = Catalogue::standard();
  Way way = split_in(8, "batched_gemm.c18_v3_8_f16", "sum.runs");
  way.precision = DType::f16;
  std::vector<TestGraph> graphs = products(100, DataKind::integers);
  for (TestGraph& graph : products(1000, DataKind::zero_mean)) graphs.push_back(std::move(graph));
  const WayReport report = run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
  EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
}

void SplitK::expect_all_convolutions(const Catalogue& catalogue, const Way& way,
                                     const std::vector<std::string>& lines) const {
  std::vector<TestGraph> graphs;
  for (const std::string& line : lines) {
    for (const DataKind kind : {DataKind::integers, DataKind::zero_mean}) {
      graphs.push_back(to_test_graph(parse_case("Conv", line, "recipe_split_k_test"), kind));
    }
  }
  const WayReport report = run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
  EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
}

TEST_P(SplitK, ColumnsOfAConvolutionAreWrittenInParts) {
  const Catalogue catalogue = Catalogue::standard();
  for (const std::int64_t parts : {2, 8, 64}) {
    Way way{"conv2d.im2col_parts",
            "conv2d",
            {{"conv2d", "conv2d.im2col_parts"},
             {"batched_gemm", "batched_gemm.naive"},
             {"sum", "sum.runs"}},
            {"sum.runs"}};
    way.tunables["conv2d.im2col_parts"] = {{"S", parts}};
    expect_all_convolutions(catalogue, way,
                            {"as_large | 3x17x11x9 5x17x9x7! | | ",
                             "padded | 2x13x7x5 9x13x5x5! 9! | pads=[2,1,3,0] | Relu",
                             "strides | 1x70x9x8 3x70x3x2! | strides=[2,3] dilations=[2,1] | "});
  }
}

TEST_P(SplitK, ChannelsOfAConvolutionArePartedIntoGroups) {
  if (shared_device()->info().compute.cuda_capability < 80)
    GTEST_SKIP() << "the recipe is for NVIDIA's GPUs from capability 8.0 on";
  const Catalogue catalogue = Catalogue::standard();
  for (const std::int64_t parts : {2, 5, 10}) {
    Way way{"conv2d.channel_parts",
            "conv2d",
            {{"conv2d", "conv2d.channel_parts"}, {"sum", "sum.single"}},
            {"sum.single"}};
    way.inside = Way::Inside::free;
    way.tunables["conv2d.channel_parts"] = {{"B", parts}};
    expect_all_convolutions(catalogue, way,
                            {"as_large | 3x20x11x9 5x20x9x7! | | ",
                             "padded | 2x100x7x5 9x100x5x5! 9! | pads=[2,1,3,0] | Relu",
                             "strides | 1x70x9x8 67x70x3x2 | strides=[2,3] dilations=[2,1] | "});
  }
}

}  // namespace
}  // namespace morton::test
