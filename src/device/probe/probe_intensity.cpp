// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_intensity.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace morton::device {
namespace {

constexpr const char* kIntensity = "measuring throughput over operational intensity";
/// Sums of halves stay exact so long.
constexpr std::int64_t kMostTurns = 4095;
constexpr std::int64_t kMostLaunches = std::int64_t{1} << 20;
/// Launches that take as long as so many samples go through less.
constexpr double kLongLaunch = 10.0;

std::int64_t odd(std::int64_t turns) { return std::max<std::int64_t>(1, turns) | 1; }

/// Element e as `fill` leaves it.
std::int32_t filled(std::uint32_t e) { return static_cast<std::int32_t>((e * 2654435761U) >> 30U); }

IntensityForm form_for(const OpenClDevice& device, IntensityType type) {
  const DeviceInfo& info = device.info();
  IntensityForm form;
  form.type = type;
  const bool cpu = info.kind == DeviceInfo::Kind::cpu;
  form.walk = cpu ? MemoryWalk::parts : MemoryWalk::side_by_side;
  // A register of a CPU, 16 bytes elsewhere.
  const std::int64_t vector_bytes = cpu ? std::clamp<std::int64_t>(info.core.lanes, 4, 16) * 4 : 16;
  form.lanes = std::min<std::int64_t>(16, vector_bytes / bytes_of(type));
  const auto config = device.device().getInfo<CL_DEVICE_SINGLE_FP_CONFIG>();
  form.multiply_add = (config & CL_FP_FMA) != 0 ? "fma" : "mad";
  return form;
}

}  // namespace

IntensityProbe::IntensityProbe(std::shared_ptr<OpenClDevice> device, IntensityType type,
                               std::int64_t footprint_bytes)
    : device_(std::move(device)), form_(form_for(*device_, type)) {
  const DeviceInfo& info = device_->info();
  const std::int64_t vector_bytes = form_.lanes * bytes_of(type);
  const std::int64_t pieces =
      std::max<std::int64_t>(1, footprint_bytes / (vector_bytes * kVectorsOfTurn));
  if (form_.walk == MemoryWalk::parts) {
    turns_ = odd(std::min(kMostTurns, pieces / (4 * info.compute.units)) - 1);
    work_items_ = std::max<std::int64_t>(1, pieces / turns_);
  } else {
    work_group_ = std::min<std::int64_t>(256, info.compute.max_work_group_size);
    work_items_ = info.compute.units * work_group_ * 8;
    turns_ = odd(std::min(kMostTurns, pieces / work_items_) - 1);
  }
  with_device_errors(kIntensity, info, [&] {
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    const auto bytes = [](std::int64_t count) { return static_cast<cl::size_type>(count); };
    memory_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, bytes(bytes_of_launch()));
    sums_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE,
                       bytes(work_items_ * form_.lanes * result_bytes_of(type)));
    BuildReport report;
    const auto program =
        device_->programs().get(intensity_source(form_, 0), {"fill", "compute"}, report);
    cl::Kernel fill(program->program, "fill");
    fill.setArg(0, memory_);
    fill.setArg(1, static_cast<cl_uint>(bytes_of_launch() / bytes_of(type)));
    (void)launch_ms(queue_, fill, work_items_, work_group_);
  });
}

std::int64_t IntensityProbe::bytes_of_launch() const {
  return work_items_ * turns_ * kVectorsOfTurn * form_.lanes * bytes_of(form_.type);
}

std::vector<std::int32_t> IntensityProbe::expected_sums(std::int64_t multiply_adds) const {
  const std::int64_t lanes = form_.lanes;
  const bool real = form_.type == IntensityType::f32 || form_.type == IntensityType::f16;
  const auto added = static_cast<std::int32_t>(multiply_adds);
  std::vector<std::int32_t> all(static_cast<std::size_t>(work_items_ * lanes));
  for (std::int64_t id = 0; id < work_items_; ++id) {
    std::int32_t* const sums = all.data() + id * lanes;
    for (std::int64_t t = 0; t < turns_; ++t) {
      const bool parts = form_.walk == MemoryWalk::parts;
      const std::int64_t first =
          parts ? (id * turns_ + t) * kVectorsOfTurn : t * kVectorsOfTurn * work_items_ + id;
      const std::int64_t step = parts ? 1 : work_items_;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        std::int32_t together = 0;
        for (std::int64_t j = 0; j < kVectorsOfTurn; ++j) {
          const std::int64_t at = (first + j * step) * lanes + lane;
          const std::int32_t x = filled(static_cast<std::uint32_t>(at)) + added;
          // As together_of in the kernel's text.
          const bool minus = j % 2 == 1 && j != kVectorsOfTurn - 1;
          together = real ? together + (minus ? -x : x) : together ^ x;
        }
        sums[lane] = together - sums[lane];
      }
    }
  }
  return all;
}

double IntensityProbe::sum_at(const std::vector<std::byte>& bytes, std::size_t at) const {
  const auto value_of = [&](auto value) {
    std::memcpy(&value, bytes.data() + at * sizeof(value), sizeof(value));
    return value;
  };
  switch (form_.type) {
    case IntensityType::f32:
    case IntensityType::f16:
      return static_cast<double>(value_of(float{}));
    case IntensityType::i32:
      return static_cast<double>(value_of(std::int32_t{}));
    case IntensityType::i8:
      break;
  }
  return static_cast<double>(value_of(std::uint8_t{}));
}

void IntensityProbe::check(std::int64_t multiply_adds) {
  const std::vector<std::int32_t> sums = expected_sums(multiply_adds);
  std::vector<std::byte> bytes(sums.size() * static_cast<std::size_t>(result_bytes_of(form_.type)));
  queue_.enqueueReadBuffer(sums_, CL_TRUE, 0, bytes.size(), bytes.data());
  for (std::size_t at = 0; at < sums.size(); ++at) {
    const auto expected =
        static_cast<double>(form_.type == IntensityType::i8 ? sums[at] & 255 : sums[at]);
    const double got = sum_at(bytes, at);
    if (got == expected) continue;
    throw DeviceError(std::string(kIntensity) + ": " + std::to_string(multiply_adds) +
                      " multiply-adds of " + name_of(form_.type) + " came to " +
                      std::to_string(got) + " where " + std::to_string(expected) +
                      " was expected, on " + device_->info().name +
                      ": its driver does not run what was written; update it, or use another "
                      "device");
  }
}

std::vector<double> IntensityProbe::measure(std::int64_t multiply_adds, const Sampling& sampling) {
  const bool rounds = multiply_adds >= kMultiplyAddsOfRound;
  if (multiply_adds < 0 || (rounds && multiply_adds % kMultiplyAddsOfRound != 0)) {
    throw InternalError(std::string(kIntensity) + ": " + std::to_string(multiply_adds) +
                        " multiply-adds cannot be had");
  }
  std::vector<double> rates;
  with_device_errors(kIntensity, device_->info(), [&] {
    BuildReport report;
    const auto program = device_->programs().get(intensity_source(form_, multiply_adds),
                                                 {"fill", "compute"}, report);
    cl::Kernel kernel(program->program, "compute");
    kernel.setArg(0, memory_);
    kernel.setArg(2, static_cast<cl_uint>(multiply_adds / kMultiplyAddsOfRound));
    for (const int factor : {3, 4}) {
      if (form_.type == IntensityType::f32 || form_.type == IntensityType::f16) {
        kernel.setArg(factor, 1.0F);
      } else {
        kernel.setArg(factor, cl_uint{1});
      }
    }
    kernel.setArg(5, sums_);
    const Work work = repeated([&] { return launch_ms(queue_, kernel, work_items_, work_group_); });
    // The first launch counts for nothing: a driver may compile there.
    kernel.setArg(1, cl_uint{1});
    (void)work(1);
    kernel.setArg(1, static_cast<cl_uint>(turns_));
    while (work(1) > kLongLaunch * sampling.sample_ms && turns_ > 1) {
      turns_ = odd(turns_ / 4 - 1);
      kernel.setArg(1, static_cast<cl_uint>(turns_));
    }
    const std::int64_t launches = sufficient_amount(work, 1, kMostLaunches, sampling, kIntensity);
    measured_bytes_ = bytes_of_launch();
    for (const double ms : samples_of(work, launches, sampling)) {
      rates.push_back(static_cast<double>(measured_bytes_) / (ms * 1e6));
    }
    check(multiply_adds);
    (void)device_->programs().store(*program);
  });
  return rates;
}

}  // namespace morton::device
