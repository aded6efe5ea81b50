// SPDX-License-Identifier: Apache-2.0
//
// What a first start compiles, in counts: seconds are for `morton bench --cold`.
#include <gtest/gtest.h>

#include <filesystem>

#include "device/open/opencl_device.hpp"
#include "device/open/quirks.hpp"
#include "device/workers/pocl_objects.hpp"
#include "morton/compile.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

class Start : public DeviceTest {};
MORTON_ON_EVERY_DEVICE(Start);

TEST_P(Start, CompilesEachKernelOnceAndAnotherBatchFewer) {
  const TemporaryFolder cache;
  const Model model = Model::load(MORTON_SOURCE_DIR "/models/lenet5.onnx");
  CompileOptions options;
  options.batch = 1;
  options.other_shapes = CompileOptions::OtherShapes::leave;
  const auto report_of = [&](const TemporaryFolder& folder) {
    const Device device = Device::open(GetParam(), {folder.path().string()});
    return compile(model, device, options).report();
  };
  const CompileReport first = report_of(cache);
  EXPECT_GT(first.kernels.built, 0);
  if (has_effect(device().info(), QuirkEffect::binary_compiles_again) && pocl_is_as_it_comes()) {
    EXPECT_EQ(first.kernels.compiled_objects, first.kernels.built);
  }
  const CompileReport second = report_of(cache);
  EXPECT_EQ(second.kernels.built, 0);
  EXPECT_EQ(second.kernels.compiled_objects, 0);
  EXPECT_EQ(second.kernels.from_disk, first.kernels.built);
  // A kernel is what is cached: another plan takes those that it shares.
  options.batch = 100;
  const CompileReport third = report_of(cache);
  EXPECT_GT(third.kernels.from_disk, 0);
  const TemporaryFolder empty;
  EXPECT_LT(third.kernels.built, report_of(empty).kernels.built);
}

}  // namespace
}  // namespace morton::test
