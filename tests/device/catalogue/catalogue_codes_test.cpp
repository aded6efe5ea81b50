// SPDX-License-Identifier: Apache-2.0
//
// Kernels of codes for GPUs, with values that boards' plans take and no device at hand does: other
// tiles and blocks, and codes that change their sign before they are multiplied.
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

/// Of a G52, of an A740, and small ones that nobody has.
std::vector<Environment> values_of_codes() {
  return {{{"ROWS", 2}, {"OUTPUTS", 8}, {"BLOCK", 16}, {"LOCAL", 16}, {"SIGNED", 1}},
          {{"ROWS", 4}, {"OUTPUTS", 16}, {"BLOCK", 16}, {"LOCAL", 64}, {"SIGNED", 0}},
          {{"ROWS", 1}, {"OUTPUTS", 4}, {"BLOCK", 8}, {"LOCAL", 32}, {"SIGNED", 1}}};
}

using KernelOfCodes = std::tuple<std::string, std::string, int>;  // run on, way, number of values

class CatalogueCodes : public ::testing::TestWithParam<KernelOfCodes> {};

TEST_P(CatalogueCodes, ComputeRightWithTheValuesOfBoards) {
  const auto& [id, name, number] = GetParam();
  const auto device = OpenClDevice::open(id, {});
  Way way = *std::ranges::find(direct_ways().ways, name, &Way::name);
  way.tunables[name] = values_of_codes()[static_cast<std::size_t>(number)];
  std::vector<TestGraph> graphs;
  std::size_t possible = 0;
  for (const OperatorCase& test : direct_ways().cases) {
    if (!families_of(test).contains(way.family)) continue;
    TestGraph graph = to_test_graph(test, DataKind::integers);
    if (!try_plan(graph, device->info(), direct_ways().catalogue, way).plan) continue;
    // A short run computes a share of them, another one with each of the values.
    const std::size_t own = possible++ + static_cast<std::size_t>(number);
    if (test::is_long_run() || own % 6 == 0) graphs.push_back(std::move(graph));
  }
  const WayReport report =
      run_graphs(device, direct_ways().catalogue, way, graphs, Execution::guarded);
  std::cout << print(way, report);
  EXPECT_GE(report.graphs, 2);
}

std::string name_of_codes_test(const ::testing::TestParamInfo<KernelOfCodes>& instance) {
  return test_name(std::get<0>(instance.param) + " " + std::get<1>(instance.param) + " " +
                   std::to_string(std::get<2>(instance.param)));
}

INSTANTIATE_TEST_SUITE_P(
    EveryDevice, CatalogueCodes,
    ::testing::Combine(::testing::ValuesIn(test::device_ids()),
                       ::testing::Values("integer_conv2d.windows", "integer_gemm.code_panels"),
                       ::testing::Range(0, static_cast<int>(values_of_codes().size()))),
    name_of_codes_test);

}  // namespace
}  // namespace morton::test
