// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device/open/opencl_device.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// The ids of every device found, or of those of the kind that the environment variable
/// MORTON_TEST_DEVICES names ("gpu"), for INSTANTIATE_TEST_SUITE_P.
inline std::vector<std::string> device_ids() {
  const char* kind = std::getenv("MORTON_TEST_DEVICES");
  std::vector<std::string> ids;
  for (const DeviceInfo& info : OpenClDevice::list()) {
    if (kind == nullptr || name_of(info.kind) == kind) ids.push_back(info.id);
  }
  return ids;
}

/// The simulator's device, where the tests run under Oclgrind.
inline std::vector<std::string> oclgrind_ids() {
  std::vector<std::string> ids;
  for (const DeviceInfo& info : OpenClDevice::list()) {
    if (info.driver.platform.find("Oclgrind") != std::string::npos) ids.push_back(info.id);
  }
  return ids;
}

/// A test that runs on every device found; `device()` has no cache on disk.
class DeviceTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { device_ = OpenClDevice::open(GetParam(), {}); }
  [[nodiscard]] OpenClDevice& device() const { return *device_; }
  [[nodiscard]] const std::shared_ptr<OpenClDevice>& shared_device() const { return device_; }

 private:
  std::shared_ptr<OpenClDevice> device_;
};

/// "0:1" as a part of a test's name.
inline std::string device_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

}  // namespace morton::test

/// Runs the tests of `suite`, derived from DeviceTest, on every device found.
#define MORTON_ON_EVERY_DEVICE(suite)                                                             \
  INSTANTIATE_TEST_SUITE_P(EveryDevice, suite, ::testing::ValuesIn(::morton::test::device_ids()), \
                           ::morton::test::device_test_name)
