// SPDX-License-Identifier: Apache-2.0
//
// What is planned for the saved devices, as text: small networks with formats and places, large
// ones in brief (which kernel computes which nodes, with which work-groups). A refactor must not
// change it. After a change that is meant to (a new kernel, another cost), write the snapshots anew
// and review the difference:
//
//     MORTON_UPDATE_SNAPSHOTS=1 build/tests/plan_tests --gtest_filter='*PlanSnapshot*'
//     git diff tests/plans/snapshots
//
// The devices are files (docs/devices.md), so the text is the same on every machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "api/inside.hpp"
#include "morton/architectures.hpp"
#include "morton/compile.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

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

std::filesystem::path tests_folder() { return std::filesystem::path(MORTON_SOURCE_DIR) / "tests"; }

std::string saved_text(const std::string& device) {
  return read_file(tests_folder() / "devices" / (device + ".json"), 1 << 20);
}

/// Compares with the snapshot, or writes it anew.
void expect_snapshot(const std::string& text, const std::string& name) {
  const auto path = tests_folder() / "plans" / "snapshots" / (name + ".txt");
  if (std::getenv("MORTON_UPDATE_SNAPSHOTS") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << "no snapshot " << path;
  EXPECT_EQ(text, read_file(path, 1 << 20))
      << "if this change is meant: the head of this test's file says how to write them anew";
}

TEST_P(PlanSnapshot, IsUnchanged) {
  const auto& [planned, device] = GetParam();
  CompileOptions options;
  options.batch = planned.batch;
  const Model model = Inside::make(network_named(planned.network));
  const std::string text =
      shortened(plan_text(model, saved_text(device), CompiledModel::Detail::why, options));
  expect_snapshot(text, name_of_snapshot(GetParam()));
}

using LargeSnapshot = std::tuple<std::string, std::string>;

std::string name_of_large(const LargeSnapshot& snapshot) {
  const auto& [network, device] = snapshot;
  return network + "_batch1_" + device;
}

/// Networks that `morton new` makes, at batch 1 and images of 224x224.
class PlanSnapshotOfLarge : public ::testing::TestWithParam<LargeSnapshot> {};

TEST_P(PlanSnapshotOfLarge, IsUnchanged) {
  const auto& [network, device] = GetParam();
  const Model model = new_model(network, 1);
  CompileOptions options;
  for (const PortInfo& input : model.inputs()) options.shapes[input.name] = {1, 3, 224, 224};
  const std::string text =
      plan_text(model, saved_text(device), CompiledModel::Detail::brief, options);
  expect_snapshot(text, name_of_large(GetParam()));
}

/// The Mali T-628 is two devices on its board: 4 and 2 compute units.
TEST(PlanSnapshotOfTwo, IsUnchanged) {
  Json four = parse_json(saved_text("mali_t628"), "mali_t628");
  Json two = four;
  two["id"] = "0:1";
  two["compute_units"] = 2;
  two["roofs"]["gflops_f32"] = four["roofs"]["gflops_f32"].get<double>() / 2;
  CompileOptions options;
  options.batch = 100;
  const Model model = Inside::make(network_named("lenet5"));
  const std::string text = shortened(
      plan_text(model, std::vector{four.dump(), two.dump()}, CompiledModel::Detail::why, options));
  expect_snapshot(text, "lenet5_batch100_mali_t628_4_and_2");
}

INSTANTIATE_TEST_SUITE_P(
    Networks, PlanSnapshot,
    ::testing::Combine(::testing::Values(Planned{"lenet5", 1}, Planned{"lenet5", 100},
                                         Planned{"mlp", 100}, Planned{"small_cnn", 3}),
                       ::testing::ValuesIn(saved_devices())),
    [](const ::testing::TestParamInfo<Snapshot>& test) { return name_of_snapshot(test.param); });

INSTANTIATE_TEST_SUITE_P(Networks, PlanSnapshotOfLarge,
                         ::testing::Combine(::testing::Values("resnet18", "mobilenet_v2"),
                                            ::testing::ValuesIn(saved_devices())),
                         [](const ::testing::TestParamInfo<LargeSnapshot>& test) {
                           return name_of_large(test.param);
                         });

}  // namespace
}  // namespace morton::test
