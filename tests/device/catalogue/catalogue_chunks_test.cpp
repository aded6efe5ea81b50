// SPDX-License-Identifier: Apache-2.0
//
// Kernels that go through long rows in parts, with parts that are shorter than the rows of the
// cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using device::OpenClDevice;

class CatalogueChunks : public ::testing::TestWithParam<std::string> {};

TEST_P(CatalogueChunks, ComputeRightInShortOnes) {
  const std::map<std::string, Environment> chunks{
      {"top_k.groups", {{"LOCAL", 16}, {"CHUNK", 64}}},
      {"top_k.sorted", {{"LOCAL", 16}, {"CHUNK", 64}}},
      {"cumulative_sum.groups", {{"LOCAL", 16}, {"EACH", 1}}},
      {"scatter.groups", {{"LOCAL", 16}, {"RANGE", 64}, {"UNROLL", 4}}},
      {"arg_max.groups", {{"LANES", 16}, {"UNROLL", 2}}},
  };
  const auto& [catalogue, ways, cases] = direct_ways();
  const auto device = OpenClDevice::open(GetParam(), {});
  for (const auto& [name, tunables] : chunks) {
    Way way = *std::ranges::find(ways, name, &Way::name);
    way.tunables[name] = tunables;
    std::vector<TestGraph> graphs;
    int possible = 0;
    for (const OperatorCase& test : cases) {
      if (!families_of(test).contains(way.family)) continue;
      TestGraph graph = to_test_graph(test, DataKind::integers);
      if (!try_plan(graph, device->info(), catalogue, way).plan) continue;
      // A short run computes a half of them.
      if (is_long_run() || possible++ % 2 == 0) graphs.push_back(std::move(graph));
    }
    const WayReport report = run_graphs(device, catalogue, way, graphs, Execution::guarded);
    std::cout << print(way, report);
    EXPECT_GE(report.graphs, 4) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, CatalogueChunks, ::testing::ValuesIn(test::device_ids()),
                         device_test_name);

}  // namespace
}  // namespace morton::test
