// SPDX-License-Identifier: Apache-2.0
//
// Operators that no kernel computes alone, by the plan's choice.
#include <gtest/gtest.h>

#include <vector>

#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Operators that are composed of others, by the kernels that the plan chooses.
class CatalogueComposed : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(CatalogueComposed);

TEST_P(CatalogueComposed, ComputeTheirCases) {
  const std::size_t stride = test::is_long_run() ? 1 : 12;
  std::vector<TestGraph> graphs;
  std::size_t place = 0;
  for (const OperatorCase& test : shipped_cases()) {
    if (!families_of(test).contains(kComposed) || place++ % stride != 0) continue;
    graphs.push_back(to_test_graph(test, DataKind::zero_mean));
  }
  const Catalogue catalogue = Catalogue::standard();
  const WayReport report =
      run_graphs(shared_device(), catalogue, Way{}, graphs, Execution::guarded);
  EXPECT_EQ(report.graphs, static_cast<int>(graphs.size()));
}

/// Cases without anything to compute: their result is the input under another shape.
class CatalogueAliases : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(CatalogueAliases);

TEST_P(CatalogueAliases, PassTheirInputOn) {
  std::vector<TestGraph> graphs;
  for (const OperatorCase& test : shipped_cases()) {
    if (families_of(test).empty()) graphs.push_back(to_test_graph(test, DataKind::zero_mean));
  }
  EXPECT_GE(graphs.size(), 10U);
  const Catalogue catalogue = Catalogue::standard();
  for (const Execution execution : {Execution::guarded, Execution::runner}) {
    const WayReport report = run_graphs(shared_device(), catalogue, Way{}, graphs, execution);
    EXPECT_EQ(report.graphs, static_cast<int>(graphs.size()));
    EXPECT_EQ(report.programs_built, 0);
  }
}

}  // namespace
}  // namespace morton::test
