// SPDX-License-Identifier: Apache-2.0
//
// Every network of `morton new` on every device of data/devices: it is planned, needs nothing that
// the device lacks, and the plan in two lines is as it was. After a change that is meant to change
// plans (a new kernel, another cost), write the snapshots anew and review the difference:
//
//     export MORTON_UPDATE_SNAPSHOTS=1 MORTON_TEST_LONG=1
//     build/tests/plan_tests --gtest_filter='*DescribedDevices*'
//     git diff tests/plans/snapshots/devices
//
// A short run has some networks, and compiles no texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "device/open/quirks.hpp"
#include "graph/architectures.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "plans/device_needs.hpp"
#include "plans/plan_setup.hpp"
#include "support/doc_files.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::filesystem::path folder_of_devices() {
  return std::filesystem::path(MORTON_SOURCE_DIR) / "data" / "devices";
}

/// In the order of their names.
std::map<std::string, DeviceInfo> described_devices() {
  std::map<std::string, DeviceInfo> devices;
  for (const auto& file : std::filesystem::directory_iterator(folder_of_devices())) {
    if (file.path().extension() != ".json") continue;
    devices.emplace(file.path().stem(), device_info_from_text(read_file(file.path(), 1 << 20)));
  }
  return devices;
}

/// What a network's open extents are: one item of a batch, texts of 128 words, images of the sizes
/// that tools/boards_networks.py has, small volumes.
std::int64_t extent_of(const std::string& network, const std::string& symbol) {
  static const std::map<std::string, std::int64_t> kSides = {
      {"espcn", 256}, {"unet", 256}, {"tiny_yolo", 416}, {"yolov8n", 640}, {"unet3d", 32}};
  if (symbol == "batch") return 1;
  const auto side = kSides.find(network);
  if (side != kSides.end()) return side->second;
  return symbol == "height" || symbol == "width" ? 224 : 128;
}

/// After all passes, as the planner gets it.
Graph network_at_its_size(const std::string& name) {
  Graph graph = build(find_architecture(name), 1);
  PassOptions options;
  for (const TensorId id : graph.inputs) {
    Shape shape;
    for (const Dimension& dimension : graph.tensor(id).declared) {
      const bool is_open = !dimension.symbol.empty();
      shape.push_back(is_open ? extent_of(name, dimension.symbol) : dimension.value);
    }
    options.shapes[graph.tensor(id).name] = shape;
  }
  run_passes(graph, options);
  return graph;
}

std::string rounded(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", number);
  return text.data();
}

/// "mali_g710: 0.6 ms; 12 launches of 9 kernels, 3 at load; 246 kB of weights, 40 kB else" and, in
/// a second line, which entries of the catalogue.
std::string summary_of(const Plan& plan, const std::string& device) {
  std::map<std::string, int> uses;
  for (const Step& step : plan.steps) ++uses[step.kernel];
  std::int64_t weights = 0, others = 0;
  for (const PlannedBlock& block : plan.blocks) {
    const bool holds_weights = block.kind == PlannedBlock::Kind::weights;
    (holds_weights ? weights : others) += block.bytes;
  }
  std::string text = device + ": " + rounded(estimated_us(plan) / 1e3) + " ms; " +
                     std::to_string(plan.steps.size()) + " launches of " +
                     std::to_string(plan.instances.size()) + " kernels, " +
                     std::to_string(plan.load_steps.size()) + " at load; " +
                     std::to_string(weights / 1000) + " kB of weights, " +
                     std::to_string(others / 1000) + " kB else\n ";
  for (const auto& [kernel, count] : uses) {
    text += " " + kernel + (count > 1 ? " x" + std::to_string(count) : "");
  }
  return text + "\n";
}

void expect_same_summaries(const std::string& text, const std::string& network) {
  const auto path = std::filesystem::path(MORTON_SOURCE_DIR) / "tests" / "plans" / "snapshots" /
                    "devices" / (network + ".txt");
  if (std::getenv("MORTON_UPDATE_SNAPSHOTS") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << "no snapshot " << path;
  EXPECT_EQ(text, read_file(path, 1 << 20))
      << "if this change is meant: the head of this test's file says how to write them anew";
}

/// Networks whose inputs, lengths or indices ONNX has as whole numbers of 64 bits, so that their
/// kernels read such. Others must do without: a device of the embedded profile may have none.
bool has_long_data(const std::string& network) {
  static const std::set<std::string> kNetworks = {"minilm",  "bert_base",  "gpt2",
                                                  "yolov8n", "lstm_rows",  "lstm_tagger",
                                                  "crnn",    "gru_speech", "vit_b_16"};
  return kNetworks.contains(network);
}

void expect_texts_that_build(const Plan& plan, const DeviceInfo& device,
                             const std::string& network) {
  EXPECT_THAT(texts_beyond(plan, device), IsEmpty());
  if (has_long_data(network)) return;
  EXPECT_THAT(kernels_with_long(plan, device), IsEmpty());
}

class DescribedDevices : public ::testing::TestWithParam<std::string> {};

TEST_P(DescribedDevices, HaveAllThatPlansNeed) {
  static const Catalogue kCatalogue = Catalogue::standard();
  static const std::map<std::string, DeviceInfo> kDevices = described_devices();
  const Graph graph = network_at_its_size(GetParam());
  const bool compiles = is_long_run() && has_clang();
  std::string summaries;
  for (const auto& [name, device] : kDevices) {
    SCOPED_TRACE(name);
    const Plan plan = make_plan(graph, kCatalogue, device, PlanOptions());
    EXPECT_THAT(needs_beyond(plan, device), IsEmpty());
    summaries += summary_of(plan, name);
    if (compiles) expect_texts_that_build(plan, device, GetParam());
  }
  expect_same_summaries(summaries, GetParam());
  if (is_long_run() && !has_clang()) GTEST_SKIP() << "no clang-14, which compiles the texts";
}

std::vector<std::string> planned_networks() {
  if (!is_long_run()) return {"lenet5", "mobilenet_v2", "minilm"};
  std::vector<std::string> names;
  for (const Architecture& architecture : all_architectures())
    names.emplace_back(architecture.name);
  return names;
}

TEST(DescribedDevicesPage, ThePageNamesEveryFileAndQuirksAreTheDrivers) {
  const std::string page = text_of_page("data/devices/README.md");
  for (const auto& [name, device] : described_devices()) {
    SCOPED_TRACE(name);
    EXPECT_THAT(page, HasSubstr("`" + name + ".json`"));
    EXPECT_EQ(device.quirks, quirks_of(device));
    EXPECT_TRUE(device.features.fp16 || device.compute.native_vector_f16 == 0);
    EXPECT_LE(device.memory.max_allocation_bytes, device.memory.global_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(, DescribedDevices, ::testing::ValuesIn(planned_networks()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace morton::test
