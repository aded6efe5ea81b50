// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_host.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace morton::device {
namespace {

constexpr const char* kProducts = "measuring products on the host";
constexpr const char* kSteps = "measuring steps on the host";
constexpr std::int64_t kMostProducts = std::int64_t{1} << 30;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 24;

std::vector<double> times_us(const Work& work, std::int64_t most, const Sampling& sampling,
                             const char* what) {
  std::vector<double> times;
  const std::int64_t count = sufficient_amount(work, 1, most, sampling, what);
  for (const double ms : samples_of(work, count, sampling)) times.push_back(ms * 1e3);
  return times;
}

}  // namespace

HostProbe::HostProbe(std::shared_ptr<OpenClDevice> device) : device_(std::move(device)) {
  with_device_errors(kSteps, device_->info(), [&] {
    BuildReport report;
    program_ = device_->programs().get(
        "__kernel void add_one(__global float* number) { number[0] += 1.0f; }\n", {"add_one"},
        report);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::plain);
    kernel_ = cl::Kernel(program_->program, "add_one");
    for (cl::Buffer* buffer : {&buffers_.lhs, &buffers_.rhs, &buffers_.dst}) {
      *buffer = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, sizeof(float));
    }
    kernel_.setArg(0, buffers_.lhs);
  });
}

std::vector<double> HostProbe::product_us(std::int64_t size, const Sampling& sampling) {
  const ProductExtents extents{size, size, size};
  const auto elements = static_cast<std::size_t>(size * size);
  const std::vector<float> lhs(elements, 0.5F);
  const std::vector<float> rhs(elements, 2.0F);
  std::vector<float> dst(elements);
  const Work work = [&](std::int64_t count) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < count; ++i) multiply_on_host(lhs, rhs, dst, extents);
    return watch.milliseconds();
  };
  std::vector<double> times = times_us(work, kMostProducts, sampling, kProducts);
  const auto sum = static_cast<float>(size);
  if (std::ranges::any_of(dst, [&](float value) { return value != sum; })) {
    throw DeviceError(std::string(kProducts) + ": a product of size " + std::to_string(size) +
                      " came out wrong: no result of this machine can be trusted");
  }
  return times;
}

std::vector<double> HostProbe::launch_and_step_us(const Sampling& sampling) {
  const DeviceInfo& info = device_->info();
  const Work work = [&](std::int64_t count) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < count; ++i) {
      queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
      multiply_mapped(queue_, info, buffers_, {1, 1, 1});
    }
    queue_.finish();
    return watch.milliseconds();
  };
  std::vector<double> times;
  with_device_errors(kSteps, info, [&] {
    const auto write = [&](const cl::Buffer& buffer, float number) {
      queue_.enqueueWriteBuffer(buffer, CL_TRUE, 0, sizeof(number), &number);
    };
    const auto read = [&](const cl::Buffer& buffer) {
      float number = 0.0F;
      queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof(number), &number);
      return number;
    };
    write(buffers_.lhs, 0.0F);
    write(buffers_.rhs, 2.0F);
    times = times_us(work, kMostSteps, sampling, kSteps);
    // Each product is of what the kernel before it left.
    if (const float left = read(buffers_.lhs); left < 1.0F || read(buffers_.dst) != 2.0F * left) {
      throw DeviceError(std::string(kSteps) + ": the host does not see what kernels write, on " +
                        info.name + ": no result of this device can be trusted");
    }
  });
  (void)device_->programs().store(*program_);
  return times;
}

}  // namespace morton::device
