// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "device/open/quirks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

DeviceInfo pocl(const std::string& driver, const std::string& target) {
  DeviceInfo info;
  info.driver.platform = "Portable Computing Language";
  info.driver.version = driver;
  info.driver.device_version = "OpenCL 3.0 PoCL HSTR: pthread-" + target;
  info.quirks = quirks_of(info);
  return info;
}

TEST(DeviceQuirks, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Quirk& quirk : quirks()) {
    EXPECT_TRUE(names.insert(quirk.name).second) << quirk.name;
    EXPECT_FALSE(quirk.symptom.empty()) << quirk.name;
  }
}

TEST(DeviceQuirks, HalfIsTakenFromPoclOnArmhfOnly) {
  EXPECT_TRUE(
      has_effect(pocl("3.1+debian", "armv7l-unknown-linux-gnueabihf"), QuirkEffect::no_half));
  EXPECT_FALSE(
      has_effect(pocl("3.1+debian", "aarch64-unknown-linux-gnu-generic"), QuirkEffect::no_half));
}

TEST(DeviceQuirks, DriversAreToldApartByTheStartOfTheirVersion) {
  EXPECT_TRUE(has_effect(pocl("3.1+debian", "x86_64"), QuirkEffect::no_image_from_buffer));
  EXPECT_FALSE(has_effect(pocl("5.0-3.1", "x86_64"), QuirkEffect::no_image_from_buffer));
  DeviceInfo mesa;
  mesa.driver.platform = "rusticl";
  mesa.driver.version = "22.3.6";
  EXPECT_EQ(quirks_of(mesa), std::vector<std::string>{"rusticl22-zero-event-times"});
  mesa.driver.version = "25.0.7";
  EXPECT_TRUE(quirks_of(mesa).empty());
}

TEST(DeviceQuirks, DevicesOfADriverAreToldApartByTheirName) {
  DeviceInfo mesa;
  mesa.driver.platform = "rusticl";
  mesa.driver.version = "26.0.3";
  mesa.name = "V3D 7.1.7.0";
  mesa.quirks = quirks_of(mesa);
  EXPECT_TRUE(has_effect(mesa, QuirkEffect::no_event_times));
  mesa.name = "llvmpipe (LLVM 19.1.7, 256 bits)";
  EXPECT_EQ(quirks_of(mesa), (std::vector<std::string>{"rusticl-llvmpipe-program-memory",
                                                       "rusticl-llvmpipe-strides"}));
  mesa.name = "FD690";
  EXPECT_TRUE(quirks_of(mesa).empty());
}

TEST(DeviceQuirks, IntelsDriverOfProcessorsIsToldFromThatOfGpus) {
  DeviceInfo intel;
  intel.driver.platform = "Intel(R) OpenCL";
  intel.driver.version = "2026.22.10.0.01_160000";
  intel.driver.device_version = "OpenCL 3.1 (Build 0)";
  EXPECT_EQ(quirks_of(intel), std::vector<std::string>{"intel-cpu-private-reads"});
  intel.driver.platform = "Intel(R) OpenCL Graphics";
  intel.driver.version = "25.18.33578";
  intel.driver.device_version = "OpenCL 3.0 NEO";
  EXPECT_TRUE(quirks_of(intel).empty());
}

TEST(DeviceQuirks, UnknownNamesHaveNoEffect) {
  DeviceInfo info;
  info.quirks = {"bug-of-tomorrow"};
  EXPECT_FALSE(has_effect(info, QuirkEffect::no_half));
  EXPECT_TRUE(contains_ignoring_case("NVIDIA Cuda", "cuda"));
  EXPECT_TRUE(contains_ignoring_case("", ""));
  EXPECT_FALSE(contains_ignoring_case("", "x"));
}

}  // namespace
}  // namespace morton::test
