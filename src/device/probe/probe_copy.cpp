// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_copy.hpp"

#include <string>

#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace morton::device {
namespace {

constexpr const char* kCopies = "measuring copies by the driver";
constexpr std::int64_t kMostCopies = std::int64_t{1} << 24;

}  // namespace

CopyProbe::CopyProbe(std::shared_ptr<OpenClDevice> device, std::int64_t bytes)
    : device_(std::move(device)), pattern_(static_cast<std::size_t>(bytes)) {
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    pattern_[i] = static_cast<std::byte>((i * 2654435761U) >> 11U);
  }
  with_device_errors(kCopies, device_->info(), [&] {
    queue_ = device_->make_queue(OpenClDevice::QueueKind::plain);
    from_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, pattern_.size());
    to_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, pattern_.size());
  });
}

std::vector<double> CopyProbe::copy_ms(const Sampling& sampling) {
  const std::size_t size = pattern_.size();
  const Work work = [&](std::int64_t count) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < count; ++i) queue_.enqueueCopyBuffer(from_, to_, 0, 0, size);
    queue_.finish();
    return watch.milliseconds();
  };
  std::vector<double> times;
  with_device_errors(kCopies, device_->info(), [&] {
    std::vector<std::byte> arrived(size);  // what must arrive is not there yet
    queue_.enqueueWriteBuffer(from_, CL_TRUE, 0, size, pattern_.data());
    queue_.enqueueWriteBuffer(to_, CL_TRUE, 0, size, arrived.data());
    times = samples_of(work, sufficient_amount(work, 1, kMostCopies, sampling, kCopies), sampling);
    queue_.enqueueReadBuffer(to_, CL_TRUE, 0, size, arrived.data());
    if (arrived != pattern_) {
      throw DeviceError(std::string(kCopies) + ": of " + std::to_string(size) +
                        " bytes other ones arrive than were there, on " + device_->info().name +
                        ": no result of this device can be trusted");
    }
  });
  return times;
}

}  // namespace morton::device
