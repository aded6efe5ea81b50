// SPDX-License-Identifier: Apache-2.0
#include "device/probe/peak.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {
namespace {

/// Turns that are written out in the loop, so that its own counting vanishes.
constexpr int kUnrolled = 8;
/// Rounds stay an int in the kernel.
constexpr std::int64_t kMostRounds = std::int64_t{1} << 30;
/// Fewest rounds after which the chains of reals have come to their limit (kUnrolled turns each).
constexpr std::int64_t kLeastRounds = 64;

/// s = s * a + b. Of reals the limit is b / (1 - a) = 2, so that they stay finite and normal; of
/// integers a and b are odd, so that no bit comes to rest.
constexpr float kRealA = 0.5F, kRealB = 1.0F;
constexpr std::uint32_t kIntegerA = 1103515245U, kIntegerB = 12345U;
constexpr double kRealLimit = 2.0;

std::string vector_type(PeakType type, int width) {
  const std::string scalar = type == PeakType::f16   ? "half"
                             : type == PeakType::i32 ? "uint"
                                                     : "float";
  return width == 1 ? scalar : scalar + std::to_string(width);
}

/// "sum.s0 + sum.s1", in the type of the result.
std::string sum_of_lanes(PeakType type, int width) {
  std::string text;
  for (int lane = 0; lane < width; ++lane) {
    text += (lane == 0 ? "" : " + ") + std::string(type == PeakType::f16 ? "(float)" : "") + "sum";
    if (width > 1) text += std::string(".s") + "0123456789abcdef"[lane];
  }
  return text;
}

std::string source_of(PeakType type, int width, const std::string& operation) {
  const std::string vector = vector_type(type, width);
  const std::string scalar = type == PeakType::i32 ? "uint" : "float";
  const auto chain = [](int i) { return "s" + std::to_string(i); };
  std::string text;
  if (type == PeakType::f16) text += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  text += "__kernel void peak(int rounds, " + scalar + " a, " + scalar + " b, __global " + scalar +
          "* result) {\n  const int id = get_global_id(0);\n";
  const std::string cast = "(" + vector + ")" + (type == PeakType::f16 ? "(half)" : "");
  text += "  const " + vector + " va = " + cast + "(a), vb = " + cast + "(b);\n";
  // A work-item's chains start apart from each other and from its neighbours'.
  for (int i = 0; i < PeakKernel::kChains; ++i) {
    const std::string start = type == PeakType::i32
                                  ? "(id + " + std::to_string(i) + ")"
                                  : "((id & 63) * 0.001f + " + std::to_string(i) + ".0f)";
    text += "  " + vector + " " + chain(i) + " = " + cast + start + ";\n";
  }
  text += "  for (int r = 0; r < rounds; ++r) {\n";
  for (int u = 0; u < kUnrolled; ++u) {
    text += "   ";
    for (int i = 0; i < PeakKernel::kChains; ++i) {
      const std::string s = chain(i);
      text += " " + s + " = " +
              (type == PeakType::i32 ? s + " * va + vb" : operation + "(" + s + ", va, vb)") + ";";
    }
    text += "\n";
  }
  text += "  }\n  " + vector + " sum = s0";
  for (int i = 1; i < PeakKernel::kChains; ++i) text += " + " + chain(i);
  return text + ";\n  result[id] = " + sum_of_lanes(type, width) + ";\n}\n";
}

bool has_fma(const cl::Device& device) {
  return (device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_FMA) != 0;
}

/// `turns` of s = s * a + b modulo 2^32, by squaring.
std::uint32_t advanced(std::uint32_t s, std::int64_t turns) {
  std::uint32_t a = kIntegerA;
  std::uint32_t b = kIntegerB;
  for (; turns > 0; turns /= 2) {
    if (turns % 2 == 1) s = s * a + b;
    b = b * a + b;
    a = a * a;
  }
  return s;
}

}  // namespace

std::string_view name_of(PeakType type) {
  return type == PeakType::f32 ? "f32" : type == PeakType::f16 ? "f16" : "i32";
}

PeakKernel::PeakKernel(std::shared_ptr<OpenClDevice> device, int width, PeakType type)
    : device_(std::move(device)), width_(width), type_(type) {
  const DeviceInfo& info = device_->info();
  // A CPU runs one work-item on a unit at a time; a GPU hides latency with many.
  const bool cpu = info.kind == DeviceInfo::Kind::cpu;
  work_group_ = cpu ? 1 : std::min<std::int64_t>(256, info.compute.max_work_group_size);
  work_items_ = info.compute.units * work_group_ * (cpu ? 4 : 16);
  with_device_errors("measuring the arithmetic peak", info, [&] {
    operation_ = type == PeakType::i32 ? "mul and add" : has_fma(device_->device()) ? "fma" : "mad";
    BuildReport report;
    program_ = device_->programs().get(source_of(type, width, operation_), {"peak"}, report);
    kernel_ = cl::Kernel(program_->program, "peak");
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    result_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE,
                         static_cast<std::size_t>(work_items_) * sizeof(float));
    if (type == PeakType::i32) {
      kernel_.setArg(1, kIntegerA);
      kernel_.setArg(2, kIntegerB);
    } else {
      kernel_.setArg(1, kRealA);
      kernel_.setArg(2, kRealB);
    }
    kernel_.setArg(3, result_);
  });
}

double PeakKernel::run_ms(std::int64_t rounds) {
  double ms = 0.0;
  last_run_ = rounds;
  with_device_errors("measuring the arithmetic peak", device_->info(), [&] {
    kernel_.setArg(0, static_cast<cl_int>(rounds));
    ms = launch_ms(queue_, kernel_, work_items_, work_group_);
  });
  return ms;
}

double PeakKernel::measure_gflops(double milliseconds) {
  if (rounds_ == 0) {
    (void)run_ms(1);  // what a driver does at the first launch
    rounds_ = kLeastRounds;
    // On a busy machine a short run may take long; the quickest of three tells how long it is.
    const auto quickest_ms = [this] {
      return std::min({run_ms(rounds_), run_ms(rounds_), run_ms(rounds_)});
    };
    while (rounds_ < kMostRounds && quickest_ms() < milliseconds / 2.0) rounds_ *= 2;
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

double PeakKernel::expected_of(std::int64_t id) const {
  if (type_ != PeakType::i32) return kRealLimit * kChains * width_;
  std::uint32_t sum = 0;
  for (int i = 0; i < kChains; ++i) {
    sum += advanced(static_cast<std::uint32_t>(id + i), last_run_ * kUnrolled);
  }
  return static_cast<double>(static_cast<std::int32_t>(sum * static_cast<std::uint32_t>(width_)));
}

void PeakKernel::check_result() {
  const std::string what = "measuring the arithmetic peak";
  if (last_run_ < kLeastRounds) (void)run_ms(kLeastRounds);
  std::vector<std::int32_t> bits(static_cast<std::size_t>(work_items_));
  with_device_errors(what, device_->info(), [&] {
    queue_.enqueueReadBuffer(result_, CL_TRUE, 0, bits.size() * sizeof(bits[0]), bits.data());
  });
  // Halves of the limit's size are 1/64 apart; sums of reals are rounded.
  const double tolerance = type_ == PeakType::i32 ? 0.0 : 0.01;
  for (std::size_t id = 0; id < bits.size(); ++id) {
    const double expected = expected_of(static_cast<std::int64_t>(id));
    const double got = type_ == PeakType::i32 ? static_cast<double>(bits[id])
                                              : static_cast<double>(std::bit_cast<float>(bits[id]));
    if (std::abs(got - expected) <= tolerance * std::abs(expected)) continue;
    throw DeviceError(
        what + ": " + description() + " of " + std::string(name_of(type_)) + " came to " +
        std::to_string(got) + " where " + std::to_string(expected) + " was expected, on " +
        device_->info().name +
        ": its driver does not run what was written; update it, or use another device");
  }
  // Only a warm program is worth keeping, and keeping it is no more than a convenience.
  (void)device_->programs().store(*program_);
}

std::string PeakKernel::description() const {
  return operation_ + " on " + vector_type(type_, width_) + ", " + std::to_string(kChains) +
         " chains";
}

}  // namespace morton::device
