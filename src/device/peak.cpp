// SPDX-License-Identifier: Apache-2.0
#include "device/peak.hpp"

#include <algorithm>
#include <chrono>

#include "device/timing.hpp"

namespace morton {
namespace {

/// Turns that are written out in the loop, so that its own counting vanishes.
constexpr int kUnrolled = 8;
/// Rounds stay an int in the kernel.
constexpr std::int64_t kMostRounds = std::int64_t{1} << 30;

std::string vector_type(int width) {
  return width == 1 ? "float" : "float" + std::to_string(width);
}

std::string source_of(int width, const std::string& operation) {
  const std::string type = vector_type(width);
  std::string text =
      "__kernel void peak(int rounds, float a, float b, __global float* result) {\n"
      "  const int id = get_global_id(0);\n";
  const auto chain = [](int i) { return "s" + std::to_string(i); };
  for (int i = 0; i < PeakKernel::kChains; ++i) {
    text += "  " + type + " " + chain(i) + " = (" + type + ")(id * 0.001f + " + std::to_string(i) +
            ".0f);\n";
  }
  text += "  for (int r = 0; r < rounds; ++r) {\n";
  for (int u = 0; u < kUnrolled; ++u) {
    text += "   ";
    for (int i = 0; i < PeakKernel::kChains; ++i) {
      text += " " + chain(i) + " = " + operation + "(" + chain(i) + ", (" + type + ")(a), (" +
              type + ")(b));";
    }
    text += "\n";
  }
  text += "  }\n  " + type + " sum = s0";
  for (int i = 1; i < PeakKernel::kChains; ++i) text += " + " + chain(i);
  text += ";\n  result[id] = ";
  for (int lane = 0; lane < width; ++lane) {
    text += (lane == 0 ? "" : " + ") + std::string("sum");
    if (width > 1) text += std::string(".s") + "0123456789abcdef"[lane];
  }
  return text + ";\n}\n";
}

bool has_fma(const cl::Device& device) {
  return (device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_FMA) != 0;
}

}  // namespace

PeakKernel::PeakKernel(std::shared_ptr<OpenClDevice> device, int width)
    : device_(std::move(device)), width_(width) {
  const DeviceInfo& info = device_->info();
  // A CPU runs one work-item on a unit at a time; a GPU hides latency with many.
  const bool cpu = info.kind == DeviceInfo::Kind::cpu;
  work_group_ = cpu ? 1 : std::min<std::int64_t>(256, info.max_work_group_size);
  work_items_ = info.compute_units * work_group_ * (cpu ? 4 : 16);
  with_device_errors("measuring the arithmetic peak", info, [&] {
    operation_ = has_fma(device_->device()) ? "fma" : "mad";
    const std::string source = source_of(width, operation_);
    BuildReport report;
    const auto program = device_->programs().get(source, {"peak"}, report);
    kernel_ = cl::Kernel(program->program, "peak");
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    result_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE,
                         static_cast<std::size_t>(work_items_) * sizeof(float));
    // The chains stay finite and normal: s tends to b / (1 - a) = 2.
    kernel_.setArg(1, 0.5F);
    kernel_.setArg(2, 1.0F);
    kernel_.setArg(3, result_);
  });
}

double PeakKernel::run_ms(std::int64_t rounds) {
  double ms = 0.0;
  with_device_errors("measuring the arithmetic peak", device_->info(), [&] {
    kernel_.setArg(0, static_cast<cl_int>(rounds));
    cl::Event event;
    const auto start = std::chrono::steady_clock::now();
    queue_.enqueueNDRangeKernel(
        kernel_, cl::NullRange, cl::NDRange(static_cast<cl::size_type>(work_items_)),
        cl::NDRange(static_cast<cl::size_type>(work_group_)), nullptr, &event);
    queue_.finish();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    const auto device_ns = device_time_ns(event);
    ms = device_ns ? static_cast<double>(*device_ns) / 1e6 : wall.count();
  });
  return ms;
}

double PeakKernel::measure_gflops(double milliseconds) {
  if (rounds_ == 0) {
    (void)run_ms(1);  // what a driver does at the first launch
    rounds_ = 64;
  }
  double ms = run_ms(rounds_);
  while (ms < milliseconds / 2.0 && rounds_ < kMostRounds) {
    rounds_ = std::min(kMostRounds, rounds_ * (ms < milliseconds / 8.0 ? 4 : 2));
    ms = run_ms(rounds_);
  }
  const double flop = 2.0 * kChains * kUnrolled * static_cast<double>(width_) *
                      static_cast<double>(rounds_) * static_cast<double>(work_items_);
  return flop / (ms * 1e6);
}

std::string PeakKernel::description() const {
  return operation_ + " on " + vector_type(width_) + ", " + std::to_string(kChains) + " chains";
}

}  // namespace morton
