// SPDX-License-Identifier: Apache-2.0
//
// Overlaps beside the threshold: a device's own division, or products that it contracts, would
// decide some of them otherwise than f32 does.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class SuppressionThreshold : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(SuppressionThreshold);

constexpr std::int64_t kImages = 3001;

/// Images of two boxes, the second of which covers the share `threshold` of the first, but for a
/// few units of the last place.
TestGraph images(const std::string& threshold) {
  const std::string n = std::to_string(kImages);
  const std::string line = "near_" + threshold.substr(2) + " | " + n + "x2x4 " + n + "x1x2:i32 " +
                           n + "x1:i32 =" + threshold + " =2:i64 | |";
  TestGraph test = to_test_graph(parse_case("BoxSuppression", line, "suppression_threshold_test"),
                                 DataKind::same_sign);
  std::mt19937 random(1234);
  std::uniform_real_distribution<float> extent(0.5F, 2.0F);
  const auto boxes = test.inputs[0].tensor.as_mutable<float>();
  const auto order = test.inputs[1].tensor.as_mutable<std::int32_t>();
  const auto count = test.inputs[2].tensor.as_mutable<std::int32_t>();
  for (std::size_t image = 0; image < static_cast<std::size_t>(kImages); ++image) {
    const float height = extent(random);
    const float width = extent(random);
    float part = height * std::stof(threshold);
    for (std::size_t step = image % 9; step != 4; step += step < 4 ? 1 : -1) {
      part = std::nextafter(part, step < 4 ? 0.0F : 4.0F);
    }
    const std::array<float, 8> corners{0.0F, 0.0F, height, width, part, 0.0F, 0.0F, width};
    std::ranges::copy(corners, boxes.begin() + static_cast<std::ptrdiff_t>(image * 8));
    order[2 * image] = 0;
    order[2 * image + 1] = 1;
    count[image] = 2;
  }
  return test;
}

TEST_P(SuppressionThreshold, DecidesAsTheRoundedQuotientDoes) {
  const Catalogue catalogue = Catalogue::standard();
  std::vector<TestGraph> graphs;
  for (const char* threshold : {"0.1", "0.3", "0.45", "0.5", "0.7", "0.95"}) {
    graphs.push_back(images(threshold));
  }
  int entries = 0;
  for (const Entry& entry : catalogue.entries()) {
    if (entry.family != families::suppression) continue;
    const Way way{entry.name, entry.family, {{entry.family, entry.name}}, {entry.name}};
    const WayReport report =
        run_graphs(shared_device(), catalogue, way, graphs, Execution::guarded);
    if (report.graphs == 0) continue;
    EXPECT_EQ(report.graphs, static_cast<int>(graphs.size())) << print(way, report);
    ++entries;
  }
  EXPECT_GE(entries, 2);
}

}  // namespace
}  // namespace morton::test
