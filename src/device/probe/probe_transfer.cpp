// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_transfer.hpp"

#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace morton::device {
namespace {

constexpr const char* kTransfers = "measuring transfers between host and device";
constexpr const char* kLaunches = "measuring launches";
constexpr std::int64_t kMostTransfers = std::int64_t{1} << 30;

}  // namespace

TransferProbe::TransferProbe(std::shared_ptr<OpenClDevice> device, std::int64_t bytes)
    : device_(std::move(device)),
      pattern_(static_cast<std::size_t>(bytes)),
      pageable_(static_cast<std::size_t>(bytes)) {
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    pattern_[i] = static_cast<std::byte>((i * 2654435761U) >> 13U);
  }
  with_device_errors(kTransfers, device_->info(), [&] {
    const auto size = static_cast<cl::size_type>(bytes);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::plain);
    buffer_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, size);
    pinned_buffer_ =
        cl::Buffer(device_->context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size);
    pinned_ = static_cast<std::byte*>(
        queue_.enqueueMapBuffer(pinned_buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size));
    std::memcpy(pinned_, pattern_.data(), pattern_.size());
  });
}

TransferProbe::~TransferProbe() {
  try {
    queue_.enqueueUnmapMemObject(pinned_buffer_, pinned_);
    queue_.finish();
  } catch (const cl::Error&) {
    // A dead context has nothing left to give back.
  }
}

std::byte* TransferProbe::host_end(Way way) {
  return way == Way::pinned ? pinned_ : pageable_.data();
}

void TransferProbe::transfer(Direction direction, Way way) {
  const std::size_t size = pattern_.size();
  if (way == Way::mapped) {
    const bool overwrite = direction == Direction::to_device &&
                           !device_->info().driver.device_version.starts_with("OpenCL 1.1");
    const cl_map_flags flags = direction == Direction::from_device ? CL_MAP_READ
                               : overwrite                         ? CL_MAP_WRITE_INVALIDATE_REGION
                                                                   : CL_MAP_WRITE;
    void* const mapped = queue_.enqueueMapBuffer(buffer_, CL_TRUE, flags, 0, size);
    if (direction == Direction::to_device) {
      std::memcpy(mapped, host_end(way), size);
    } else {
      std::memcpy(host_end(way), mapped, size);
    }
    queue_.enqueueUnmapMemObject(buffer_, mapped);
  } else if (direction == Direction::to_device) {
    queue_.enqueueWriteBuffer(buffer_, CL_FALSE, 0, size, host_end(way));
  } else {
    queue_.enqueueReadBuffer(buffer_, CL_FALSE, 0, size, host_end(way));
  }
}

void TransferProbe::put_in_buffer(const std::vector<std::byte>& bytes) {
  queue_.enqueueWriteBuffer(buffer_, CL_TRUE, 0, bytes.size(), bytes.data());
}

std::vector<std::byte> TransferProbe::taken_from_buffer() {
  std::vector<std::byte> bytes(pattern_.size());
  queue_.enqueueReadBuffer(buffer_, CL_TRUE, 0, bytes.size(), bytes.data());
  return bytes;
}

void TransferProbe::check(Direction direction, Way way) {
  const bool right = direction == Direction::to_device
                         ? taken_from_buffer() == pattern_
                         : std::memcmp(host_end(way), pattern_.data(), pattern_.size()) == 0;
  if (right) return;
  throw DeviceError(std::string(kTransfers) + ": of " + std::to_string(pattern_.size()) +
                    " bytes other ones arrive than were sent, on " + device_->info().name +
                    ": no result of this device can be trusted");
}

std::vector<double> TransferProbe::measure(Direction direction, Way way, const Sampling& sampling) {
  const Work work = [&](std::int64_t count) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < count; ++i) transfer(direction, way);
    queue_.finish();
    return watch.milliseconds();
  };
  std::vector<double> rates;
  with_device_errors(kTransfers, device_->info(), [&] {
    // What must arrive is not there yet.
    const bool sends = direction == Direction::to_device;
    const std::vector<std::byte> nothing(pattern_.size());
    put_in_buffer(sends ? nothing : pattern_);
    std::memcpy(host_end(way), sends ? pattern_.data() : nothing.data(), pattern_.size());
    const std::int64_t count = sufficient_amount(work, 1, kMostTransfers, sampling, kTransfers);
    for (const double ms : samples_of(work, count, sampling)) {
      rates.push_back(static_cast<double>(pattern_.size()) / (ms * 1e6));
    }
    check(direction, way);
  });
  return rates;
}

std::vector<double> TransferProbe::map_us(Direction direction, const Sampling& sampling) {
  const cl_map_flags flags = direction == Direction::from_device ? CL_MAP_READ : CL_MAP_WRITE;
  const Work work = [&](std::int64_t count) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < count; ++i) {
      void* const mapped = queue_.enqueueMapBuffer(buffer_, CL_TRUE, flags, 0, pattern_.size());
      queue_.enqueueUnmapMemObject(buffer_, mapped);
    }
    queue_.finish();
    return watch.milliseconds();
  };
  std::vector<double> times;
  with_device_errors(kTransfers, device_->info(), [&] {
    const std::int64_t count = sufficient_amount(work, 1, kMostTransfers, sampling, kTransfers);
    for (const double ms : samples_of(work, count, sampling)) times.push_back(ms * 1e3);
  });
  return times;
}

LaunchProbe::LaunchProbe(std::shared_ptr<OpenClDevice> device) : device_(std::move(device)) {
  with_device_errors(kLaunches, device_->info(), [&] {
    BuildReport report;
    program_ = device_->programs().get("__kernel void count(__global uint* ran) { ran[0] += 1; }\n",
                                       {"count"}, report);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::plain);
    kernel_ = cl::Kernel(program_->program, "count");
    count_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    kernel_.setArg(0, count_);
  });
}

std::vector<double> LaunchProbe::measure_us(Wait wait, const Sampling& sampling) {
  cl_uint launched = 0;
  const Work work = [&](std::int64_t count) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < count; ++i) {
      queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
      if (wait == Wait::after_each) queue_.finish();
    }
    queue_.finish();
    launched += static_cast<cl_uint>(count);
    return watch.milliseconds();
  };
  std::vector<double> times;
  with_device_errors(kLaunches, device_->info(), [&] {
    const cl_uint zero = 0;
    queue_.enqueueWriteBuffer(count_, CL_TRUE, 0, sizeof(zero), &zero);
    // The most is no more than queues bear.
    constexpr std::int64_t kLeast = 16;
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    const std::int64_t count = sufficient_amount(work, kLeast, kMost, sampling, kLaunches);
    for (const double ms : samples_of(work, count, sampling)) times.push_back(ms * 1e3);
    cl_uint ran = 0;
    queue_.enqueueReadBuffer(count_, CL_TRUE, 0, sizeof(ran), &ran);
    if (ran != launched) {
      throw DeviceError(std::string(kLaunches) + ": " + std::to_string(launched) +
                        " launches were asked for and " + std::to_string(ran) + " ran, on " +
                        device_->info().name + ": no result of this device can be trusted");
    }
  });
  (void)device_->programs().store(*program_);
  return times;
}

}  // namespace morton::device
