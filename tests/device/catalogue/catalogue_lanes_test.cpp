// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose vectors are as wide as a register, with the values that they take on processors
// with other registers than the one at hand: narrower vectors run anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "device/catalogue/catalogue_runs.hpp"
#include "plans/plan_setup.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using device::OpenClDevice;

constexpr const char* kLanesTunable = "LANES";

/// Whether its tunable follows from the device's vectors. Others of that name are GPUs' work-items.
bool has_width_of_vectors(const Entry& entry) {
  const auto lanes = entry.tunables.find(kLanesTunable);
  return lanes != entry.tunables.end() && !lanes->second.standard.is_constant();
}

/// Whether it computes on processors alone: `require` says so.
bool is_for_processors(const Entry& entry) {
  return std::ranges::any_of(entry.require, [](const Expression& one) {
    return one.variables() == std::set<std::string>{"device.is_cpu"};
  });
}

/// The narrowest vectors that the kernels have, which no saved device chooses for all.
constexpr const char* kFourLanes = "four_lanes";

/// The kernels' standard values on a saved device.
std::map<std::string, Environment> values_on(const std::string& device) {
  const bool are_four = device == kFourLanes;
  const Environment facts = environment_of(saved_device(are_four ? "pocl_sse4" : device));
  std::map<std::string, Environment> values;
  for (const Entry& entry : direct_ways().catalogue.entries()) {
    if (has_width_of_vectors(entry)) {
      values[entry.name] = standard_tunables(entry, facts);
      if (are_four) values[entry.name][kLanesTunable] = 4;
    }
  }
  return values;
}

/// Whether the kernel can compute any case with the values that it has on this device.
bool runs_with_its_own_values(const OpenClDevice& device, const std::string& name) {
  const Way& way = *std::ranges::find(direct_ways().ways, name, &Way::name);
  return !possible_cases(direct_ways().cases, device.info(), direct_ways().catalogue, way, 1)
              .empty();
}

using WayOfDevice = std::tuple<std::string, std::string, std::string>;  // run on, way, values of

class CatalogueLanes : public ::testing::TestWithParam<WayOfDevice> {};

TEST_P(CatalogueLanes, ComputeRightWithTheVectorsOf) {
  const auto& [id, name, values_of] = GetParam();
  const auto device = OpenClDevice::open(id, {});
  if (device->info().kind != DeviceInfo::Kind::cpu &&
      is_for_processors(*direct_ways().catalogue.find_entry(name))) {
    GTEST_SKIP() << "a kernel of processors";
  }
  Way way = *std::ranges::find(direct_ways().ways, name, &Way::name);
  way.tunables = values_on(values_of);
  std::vector<TestGraph> graphs;
  for (const OperatorCase& test :
       possible_cases(direct_ways().cases, device->info(), direct_ways().catalogue, way, 2)) {
    graphs.push_back(to_test_graph(test, DataKind::integers));
  }
  if (graphs.empty() && !runs_with_its_own_values(*device, name)) {
    GTEST_SKIP() << name << " is not for this device";
  }
  const WayReport report =
      run_graphs(device, direct_ways().catalogue, way, graphs, Execution::guarded);
  std::cout << print(way, report);
  EXPECT_GE(report.graphs, 1);
}

std::vector<std::string> lanes_way_names() {
  const Catalogue catalogue = Catalogue::standard();
  std::vector<std::string> names;
  for (const Way& way : all_ways(catalogue)) {
    const Entry* entry = catalogue.find_entry(way.name);
    if (entry != nullptr && entry->origin.batch_of.empty() && has_width_of_vectors(*entry)) {
      names.push_back(way.name);
    }
  }
  return names;
}

std::string name_of_lanes_test(const ::testing::TestParamInfo<WayOfDevice>& instance) {
  return test_name(std::get<0>(instance.param) + " " + std::get<1>(instance.param) + " " +
                   std::get<2>(instance.param));
}

/// The saved devices whose values are tried. Those of NEON have a processor of their own:
/// tools/arm.sh.
std::vector<std::string> devices_of_values() {
  std::vector<std::string> devices{"pocl_avx2", "pocl_sse4", kFourLanes};
#ifdef __aarch64__
  devices.emplace_back("pocl_neon");
#endif
  return devices;
}

/// Each kernel with the values of each device; in a short run of one, in turn. A processor with
/// NEON tries its own.
std::vector<WayOfDevice> ways_of_devices() {
  const std::vector<std::string> devices = devices_of_values();
  std::vector<WayOfDevice> all;
  std::size_t turn = 0;
  for (const std::string& id : test::device_ids()) {
    for (const std::string& way : lanes_way_names()) {
      for (std::size_t d = 0; d < devices.size(); ++d) {
        const bool is_own = devices[d] == "pocl_neon";
        if (is_long_run() || is_own || d == turn % devices.size()) {
          all.emplace_back(id, way, devices[d]);
        }
      }
      ++turn;
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, CatalogueLanes, ::testing::ValuesIn(ways_of_devices()),
                         name_of_lanes_test);

}  // namespace
}  // namespace morton::test
