// SPDX-License-Identifier: Apache-2.0
//
// The files of tests/devices, and docs/devices.md, which explains them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "device/open/quirks.hpp"
#include "plans/plan_setup.hpp"
#include "support/doc_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

TEST(SavedDevices, AreAllThereAndReadable) {
  std::vector<std::string> found;
  const auto folder = std::filesystem::path(MORTON_SOURCE_DIR) / "tests" / "devices";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found.push_back(entry.path().stem().string());
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(saved_devices()));
  for (const auto& name : saved_devices()) {
    SCOPED_TRACE(name);
    const DeviceInfo info = saved_device(name);
    EXPECT_EQ(info.quirks, quirks_of(info))
        << "the file's quirks are not those that its driver has";
    EXPECT_TRUE(info.features.fp16 || info.compute.native_vector_f16 == 0);
    EXPECT_LE(info.memory.max_allocation_bytes, info.memory.global_bytes == 0
                                                    ? info.memory.max_allocation_bytes
                                                    : info.memory.global_bytes);
  }
}

TEST(SavedDevices, ThePageExplainsEveryKeyQuirkAndFile) {
  const std::string page = text_of_page("docs/devices.md");
  const Json json = to_json(saved_device("pocl_cpu"));
  for (const auto& [key, value] : json.items()) EXPECT_THAT(page, HasSubstr("`" + key + "`"));
  for (const auto& [key, value] : json.at("roofs").items()) {
    EXPECT_THAT(page, HasSubstr("`" + key + "`"));
  }
  for (const Quirk& quirk : quirks()) {
    EXPECT_THAT(page, HasSubstr("`" + std::string(quirk.name) + "`"));
  }
  for (const auto& name : saved_devices()) {
    EXPECT_THAT(page, HasSubstr("tests/devices/" + name + ".json"));
  }
}

}  // namespace
}  // namespace morton::test
