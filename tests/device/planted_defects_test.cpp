// SPDX-License-Identifier: Apache-2.0
//
// Kernels with a defect each, which tools/oclgrind.sh runs to see that the simulator reports them:
// a check that stays silent here would stay silent everywhere.
#include <gtest/gtest.h>

#include <vector>

#include "device/open/opencl_device.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr int kItems = 4;

class PlantedDefects : public ::testing::TestWithParam<std::string> {
 protected:
  /// Runs the kernel `defect` of this text in one work-group. It gets an array of its items'
  /// numbers and one to write to.
  static void run(const char* text) {
    const auto device = OpenClDevice::open(GetParam(), {});
    const cl::CommandQueue queue = device->make_queue(OpenClDevice::QueueKind::plain);
    const cl::Program program(device->context(), std::string(text), true);
    cl::Kernel kernel(program, "defect");
    const std::vector<float> numbers(kItems, 1.0F);
    const cl::Buffer from(device->context(), CL_MEM_READ_WRITE, sizeof(float) * kItems);
    const cl::Buffer to(device->context(), CL_MEM_READ_WRITE, sizeof(float) * kItems);
    queue.enqueueWriteBuffer(from, CL_TRUE, 0, sizeof(float) * kItems, numbers.data());
    kernel.setArg(0, from);
    kernel.setArg(1, to);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(kItems), cl::NDRange(kItems));
    queue.finish();
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PlantedDefects);

TEST_P(PlantedDefects, None) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    to[get_global_id(0)] = from[get_global_id(0)];
  })");
}

TEST_P(PlantedDefects, ReadBeyond) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    to[get_global_id(0)] = from[get_global_id(0) + 1];
  })");
}

TEST_P(PlantedDefects, WriteBeyond) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    to[get_global_id(0) + 1] = from[get_global_id(0)];
  })");
}

TEST_P(PlantedDefects, Race) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    __local float shared[4];
    const int i = get_local_id(0);
    shared[i] = from[i] * (float)i;
    to[i] = shared[(i + 1) % 4];
  })");
}

TEST_P(PlantedDefects, SameValueRace) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    to[0] = from[0];
  })");
}

TEST_P(PlantedDefects, Uninitialised) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    __local float shared[4];
    const int i = get_local_id(0);
    if (i < 3) shared[i] = from[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared[i] > 0.0f) to[i] = 1.0f;
  })");
}

TEST_P(PlantedDefects, DivergentBarrier) {
  run(R"(__kernel void defect(__global const float* from, __global float* to) {
    const int i = get_local_id(0);
    if (i < 2) barrier(CLK_LOCAL_MEM_FENCE);
    to[i] = from[i];
  })");
}

INSTANTIATE_TEST_SUITE_P(Oclgrind, PlantedDefects, ::testing::ValuesIn(test::oclgrind_ids()));

}  // namespace
}  // namespace morton::test
