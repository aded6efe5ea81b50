// SPDX-License-Identifier: Apache-2.0
//
// The order in which work-groups take tiles: whatever the band, each tile is computed, once.
#include <gtest/gtest.h>

#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class GemmOrder : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(GemmOrder);

TEST_P(GemmOrder, BandsThatDivideTheRowsOrNotReachEveryTile) {
  const Catalogue catalogue = Catalogue::standard();
  // Grids of 16 x 16 tiles: 1x1, 1x9, 9x1, 3x5, 8x9 and 11x2.
  std::vector<TestGraph> graphs;
  for (const char* line :
       {"one | 3x17 17x1 | |", "row | 16x3 3x129 | |", "column | 129x3 3x7 | |",
        "few | 33x5 5x65 65 | | Relu", "many | 113x17 17x129 | |", "tall | 161x1 1x17 | |"}) {
    graphs.push_back(
        to_test_graph(parse_case("Gemm", line, "gemm_order_test"), DataKind::integers));
  }
  for (const std::int64_t band : {1, 2, 4, 8}) {
    Way way{"gemm.local_tile", "gemm", {{"gemm", "gemm.local_tile"}}, {"gemm.local_tile"}};
    way.tunables["gemm.local_tile"] = {
        {"BAND", band}, {"TILE_M", 16}, {"TILE_N", 16}, {"PATCH_M", 4}, {"PATCH_N", 4}};
    const WayReport report =
        run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
    if (report.graphs == 0) GTEST_SKIP() << print(way, report);
    EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
  }
}

}  // namespace
}  // namespace morton::test
