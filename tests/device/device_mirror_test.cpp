// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "api/inside.hpp"
#include "morton/mirror.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kMirrorSource = R"(
__kernel void axpy(__global const float* x, __global float* y, float a) {
  const int i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
)";

std::vector<float> counting(std::size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

/// Without a cache on disk.
Device opened(const std::string& selector) {
  return Device::open(selector, {"", DeviceConfig::DiskCache::none});
}

class DeviceMirror : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(DeviceMirror);

TEST_P(DeviceMirror, PushAndPullCopy) {
  DeviceHome home{Inside::make(shared_device())};
  for (const std::size_t size : {1, 3, 17, 63}) {
    MirroredArray<float> x(home, counting(size));
    EXPECT_FALSE(x.is_mirrored());
    EXPECT_FALSE(x.verify());
    x.mirror();
    EXPECT_TRUE(x.verify());
    for (float& value : x.host()) value = -1.0F;
    x.pull();
    EXPECT_EQ(std::vector(x.host().begin(), x.host().end()), counting(size));
    x.host()[size - 1] = 99.0F;
    x.push();
    x.host()[size - 1] = 0.0F;
    x.pull();
    EXPECT_EQ(x.host()[size - 1], 99.0F);
    x.unmirror();
    EXPECT_FALSE(x.is_mirrored());
    x.pull();
    EXPECT_EQ(x.host()[size - 1], 99.0F) << "nothing to pull";
  }
}

TEST_P(DeviceMirror, BorrowsTheCallersElements) {
  DeviceHome home{Inside::make(shared_device())};
  std::vector<float> mine(17, 1.0F);
  MirroredArray<float> x(home, std::span<float>(mine));
  MirroredArray<float> y(home, std::vector<float>(17, 0.5F));
  HomeKernel axpy(home, kMirrorSource, "axpy");
  axpy.run({17}, {1}, x.buffer(), y.writable_buffer(), 2.0F);
  y.pull();
  EXPECT_EQ(y.host()[16], 2.5F);
  axpy.run({17}, {1}, y.buffer(), x.writable_buffer(), 1.0F);
  x.pull();
  EXPECT_EQ(mine, std::vector<float>(17, 3.5F));
  EXPECT_EQ(axpy.builds(), 1);
}

TEST_P(DeviceMirror, AnEmptyArrayIsMirroredToo) {
  DeviceHome home{Inside::make(shared_device())};
  MirroredArray<float> nothing(home, std::vector<float>{});
  EXPECT_NE(nothing.buffer(), nullptr);
  nothing.pull();
}

TEST_P(DeviceMirror, ErrorsNameTheKernelAndSayWhy) {
  DeviceHome home{Inside::make(shared_device())};
  MirroredArray<float> x(home, counting(3));
  const auto complaint = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  HomeKernel wrong(home, "__kernel void wrong(__global float* x) { x[0] = nonsense; }", "wrong");
  EXPECT_THAT(complaint([&] { wrong.run({1}, {}, x.writable_buffer()); }),
              AllOf(HasSubstr("kernel wrong"), HasSubstr("nonsense")));
  HomeKernel absent(home, kMirrorSource, "absent");
  EXPECT_THAT(complaint([&] { absent.run({1}, {}, x.buffer()); }), HasSubstr("kernel absent"));
  HomeKernel axpy(home, kMirrorSource, "axpy");
  EXPECT_THAT(complaint([&] { axpy.run({1}, {}, x.buffer(), x.writable_buffer(), 1.0); }),
              HasSubstr("argument 2"));
  EXPECT_THROW(axpy.run({3}, {1, 1}, x.buffer(), x.writable_buffer(), 1.0F), UsageError);
}

TEST(DeviceMove, InMidRunKeepsTheResults) {
  const auto result = test::run_tests_in_child("DeviceMove.DISABLED_ChildTwoEqualDevices",
                                               {{"POCL_DEVICES", "pthread pthread"}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceMove, DISABLED_ChildTwoEqualDevices) {
  // Those of PoCL are not the first where there is another platform.
  const auto infos = OpenClDevice::list();
  const auto first = std::ranges::adjacent_find(infos, [](const auto& a, const auto& b) {
    return a.driver.platform == b.driver.platform && a.compute.units == b.compute.units;
  });
  if (first == infos.end()) GTEST_SKIP() << "PoCL gives no second device";
  const std::string second = std::next(first)->id;
  DeviceHome home(opened(first->id));
  MirroredArray<float> x(home, counting(63));
  MirroredArray<float> y(home, std::vector<float>(63, 1.0F));
  HomeKernel axpy(home, kMirrorSource, "axpy");
  // y = 1 + (1 + 2 + 3 + 4) x, moving before each odd step and pulling only once at the end.
  for (int step = 1; step <= 4; ++step) {
    if (step % 2 == 1 && step > 1) {
      home.move_to(opened(second));
      EXPECT_TRUE(y.is_mirrored());
      EXPECT_FALSE(y.verify()) << "its image is on the former device";
    }
    axpy.run({63}, {9}, x.buffer(), y.writable_buffer(), static_cast<float>(step));
    EXPECT_TRUE(x.verify());
    EXPECT_TRUE(y.verify());
  }
  y.pull();
  for (std::size_t i = 0; i < 63; ++i) {
    EXPECT_EQ(y.host()[i], 1.0F + 10.0F * static_cast<float>(i)) << i;
  }
  EXPECT_EQ(home.generation(), 1);
  EXPECT_EQ(home.device().id(), second);
  EXPECT_EQ(axpy.builds(), 2) << "one program for each device";
}

TEST(DeviceMove, ByComputeUnits) {
  const auto result = test::run_tests_in_child(
      "DeviceMove.DISABLED_ChildUnequalDevices",
      {{"POCL_DEVICES", "pthread basic"}, {"POCL_MAX_PTHREAD_COUNT", "2"}});
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(DeviceMove, DISABLED_ChildUnequalDevices) {
  const auto infos = OpenClDevice::list();
  if (infos.size() < 2 || infos[0].compute.units == infos[1].compute.units) {
    GTEST_SKIP() << "no two devices of unequal size";
  }
  const auto selector = [&](std::size_t i) {
    return "units=" + std::to_string(infos[i].compute.units);
  };
  DeviceHome home(opened(selector(0)));
  MirroredArray<float> x(home, counting(17));
  MirroredArray<float> y(home, std::vector<float>(17, 0.0F));
  HomeKernel axpy(home, kMirrorSource, "axpy");
  for (const std::size_t where : {1, 0, 1}) {
    axpy.run({17}, {1}, x.buffer(), y.writable_buffer(), 1.0F);
    home.move_to(opened(selector(where)));
    EXPECT_EQ(home.device().id(), infos[where].id);
  }
  EXPECT_THROW(home.move_to(opened("units=999")), UsageError);
  EXPECT_EQ(home.generation(), 3) << "a failed move changes nothing";
  y.pull();
  for (std::size_t i = 0; i < 17; ++i) EXPECT_EQ(y.host()[i], 3.0F * static_cast<float>(i)) << i;
  // The host's elements win when the caller pushes them.
  y.host()[0] = 7.0F;
  y.push();
  axpy.run({17}, {1}, x.buffer(), y.writable_buffer(), 1.0F);
  y.pull();
  EXPECT_EQ(y.host()[0], 7.0F);
}

}  // namespace
}  // namespace morton::test
