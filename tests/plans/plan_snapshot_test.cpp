// SPDX-License-Identifier: Apache-2.0
//
// What is planned for four devices, as text. A refactor must not change it. After a change that is
// meant to (a new kernel, another cost), write the snapshots anew and review the difference:
//
//     MORTON_UPDATE_SNAPSHOTS=1 build/tests/plan_tests --gtest_filter='*PlanSnapshot*'
//     git diff tests/plans/snapshots
//
// The devices are files (docs/devices.md), so the text is the same on every machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tuple>

#include "morton/compile.hpp"
#include "plans/plan_setup.hpp"

namespace morton::test {
namespace {

struct Planned {
  const char* network;
  std::int64_t batch;
};

void PrintTo(const Planned& planned, std::ostream* out) {
  *out << planned.network << ", batch " << planned.batch;
}

using Snapshot = std::tuple<Planned, std::string>;

class PlanSnapshot : public ::testing::TestWithParam<Snapshot> {};

std::string name_of_snapshot(const Snapshot& snapshot) {
  const auto& [planned, device] = snapshot;
  return std::string(planned.network) + "_batch" + std::to_string(planned.batch) + "_" + device;
}

/// Steps with formats and places; without the list of what else was considered and how many ways
/// there were, which every new kernel makes longer.
std::string shortened(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("considered")) break;
    if (line.starts_with("      why:")) continue;
    result += line + "\n";
  }
  return result;
}

TEST_P(PlanSnapshot, IsUnchanged) {
  const auto& [planned, device] = GetParam();
  const std::filesystem::path folder = std::filesystem::path(MORTON_SOURCE_DIR) / "tests";
  CompileOptions options;
  options.batch = planned.batch;
  const Model model(std::make_shared<const Graph>(network_named(planned.network)));
  const std::string text =
      shortened(plan_text(model, read_file(folder / "devices" / (device + ".json"), 1 << 20),
                          CompiledModel::Detail::why, options));
  const auto path = folder / "plans" / "snapshots" / (name_of_snapshot(GetParam()) + ".txt");
  if (std::getenv("MORTON_UPDATE_SNAPSHOTS") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << "no snapshot " << path;
  EXPECT_EQ(text, read_file(path, 1 << 20))
      << "if this change is meant: the head of this test's file says how to write them anew";
}

INSTANTIATE_TEST_SUITE_P(
    Networks, PlanSnapshot,
    ::testing::Combine(::testing::Values(Planned{"lenet5", 1}, Planned{"lenet5", 100},
                                         Planned{"mlp", 100}, Planned{"small_cnn", 3}),
                       ::testing::ValuesIn(saved_devices())),
    [](const ::testing::TestParamInfo<Snapshot>& test) { return name_of_snapshot(test.param); });

}  // namespace
}  // namespace morton::test
