// SPDX-License-Identifier: Apache-2.0
//
// The kernels of interim plans: every entry that states "generic", in its generic form, on a share
// of its family's cases; and a share of all cases with whatever kernels an interim plan takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <tuple>

#include "catalogue/generic.hpp"
#include "device/catalogue/catalogue_runs.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

const Catalogue& generic_catalogue() {
  static const auto kForms = generic_forms(*Catalogue::shared());
  return *kForms;
}

const std::vector<OperatorCase>& every_case() {
  static const std::vector<OperatorCase> kCases = shipped_cases();
  return kCases;
}

/// How each generic form is forced on the planner.
const std::vector<Way>& generic_ways() {
  static const std::vector<Way> kWays = [] {
    std::vector<Way> ways = all_ways(Catalogue::standard());
    std::erase_if(ways, [](const Way& way) {
      const Entry* entry = generic_catalogue().find_entry(way.name.substr(0, way.name.find(' ')));
      return entry == nullptr || !entry->launch.generic;
    });
    return ways;
  }();
  return kWays;
}

/// Of the cases, every `stride`-th, beginning at `first`; all of them in a long run.
std::vector<TestGraph> share_of(const std::vector<OperatorCase>& cases, std::size_t first,
                                std::size_t stride, DataKind kind) {
  if (is_long_run()) first = 0, stride = 1;
  std::vector<TestGraph> graphs;
  for (std::size_t i = first; i < cases.size(); i += stride) {
    graphs.push_back(to_test_graph(cases[i], kind));
  }
  return graphs;
}

class GenericForms : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(GenericForms, ComputeTheirCases) {
  const auto device = OpenClDevice::open(std::get<0>(GetParam()), {});
  const auto way = std::ranges::find(generic_ways(), std::get<1>(GetParam()), &Way::name);
  const std::vector<OperatorCase> cases =
      possible_cases(every_case(), device->info(), generic_catalogue(), *way, 4);
  if (cases.empty()) GTEST_SKIP() << way->name << " needs another device";
  for (const DataKind kind : {DataKind::integers, DataKind::zero_mean}) {
    const auto graphs = share_of(cases, 0, 1, kind);
    const WayReport report =
        run_graphs(device, generic_catalogue(), *way, graphs, Execution::guarded);
    EXPECT_EQ(report.graphs, static_cast<int>(graphs.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, GenericForms,
                         ::testing::Combine(::testing::ValuesIn(device_ids()),
                                            ::testing::ValuesIn([] {
                                              std::vector<std::string> names;
                                              for (const Way& way : generic_ways()) {
                                                names.push_back(way.name);
                                              }
                                              return names;
                                            }())),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param) + "_" +
                                            std::get<1>(test.param));
                         });

class InterimKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(InterimKernels, ComputeAnyCase) {
  const auto device = OpenClDevice::open(GetParam(), {});
  Way any{"any kernel", "", {}, {}};
  const auto graphs = share_of(every_case(), 3, 40, DataKind::zero_mean);
  const WayReport report = run_graphs(device, generic_catalogue(), any, graphs, Execution::runner);
  std::cout << print(any, report);
  EXPECT_GE(report.graphs * 10, static_cast<int>(graphs.size()) * 9);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, InterimKernels, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace morton::test
