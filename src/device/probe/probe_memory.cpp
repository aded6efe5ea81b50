// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_memory.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.hpp"
#include "device/probe/probe_memory_source.hpp"

namespace morton::device {
namespace {

constexpr std::uint32_t kFactor = 2654435761U;
constexpr std::int64_t kTurn = 4;  ///< vectors that one turn of a kernel's loop touches
constexpr std::int64_t kTexelLanes = 4;
constexpr std::int64_t kMostCopyRounds = std::int64_t{1} << 30;
constexpr const char* kWhat = "measuring the bandwidth of memory";

/// Sum of the first elements as `fill` leaves them.
std::uint32_t filled_sum(std::int64_t count) {
  const auto elements = static_cast<std::uint64_t>(count);
  return kFactor * static_cast<std::uint32_t>(elements * (elements - 1) / 2);
}

/// Sum of `touched` elements, read in order around a range.
std::uint32_t expected_sum(std::int64_t range_elements, std::int64_t touched) {
  const std::int64_t rest = touched % range_elements;
  return static_cast<std::uint32_t>(touched / range_elements) * filled_sum(range_elements) +
         (rest == 0 ? 0U : filled_sum(rest));
}

cl_uint to_uint(std::int64_t value) { return static_cast<cl_uint>(value); }

}  // namespace

MemoryProbe::MemoryProbe(std::shared_ptr<OpenClDevice> device, std::int64_t largest_bytes)
    : device_(std::move(device)) {
  const DeviceInfo& info = device_->info();
  walk_.parts = info.kind == DeviceInfo::Kind::cpu;
  constexpr std::int64_t kGroupsOnAUnit = 8;
  walk_.lanes = walk_.parts ? 16 : 4;
  walk_.work_group =
      walk_.parts ? 1 : std::min<std::int64_t>(256, info.compute.max_work_group_size);
  walk_.work_items = info.compute.units * (walk_.parts ? 1 : walk_.work_group * kGroupsOnAUnit);
  memory_.vectors = footprint_near(largest_bytes) / (walk_.lanes * 4);
  with_device_errors(kWhat, info, [&] {
    build();
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    memory_.elements = cl::Buffer(device_->context(), CL_MEM_READ_WRITE,
                                  static_cast<cl::size_type>(memory_.vectors * walk_.lanes * 4));
    memory_.sums = cl::Buffer(device_->context(), CL_MEM_READ_WRITE,
                              static_cast<cl::size_type>(walk_.work_items * 4));
  });
}

void MemoryProbe::build() {
  BuildReport report;
  const MemoryWalk walk = walk_.parts ? MemoryWalk::parts : MemoryWalk::side_by_side;
  kernels_.program = device_->programs().get(memory_probe_source(walk, walk_.lanes),
                                             {"fill", "read", "write", "copy"}, report);
  kernels_.fill = cl::Kernel(kernels_.program->program, "fill");
  kernels_.read = cl::Kernel(kernels_.program->program, "read");
  kernels_.write = cl::Kernel(kernels_.program->program, "write");
  kernels_.copy = cl::Kernel(kernels_.program->program, "copy");
  if (!device_->info().image.supported) return;
  kernels_.image_program =
      device_->programs().get(image_probe_source(walk), {"image_read"}, report);
  kernels_.image_read = cl::Kernel(kernels_.image_program->program, "image_read");
}

std::int64_t MemoryProbe::footprint_near(std::int64_t wanted_bytes) const {
  // Half of it, of a copy, is a whole number of turns for each work-item, or a power of two.
  const std::int64_t step = walk_.lanes * 4 * kTurn * 2 * (walk_.parts ? walk_.work_items : 1);
  if (walk_.parts) return std::max<std::int64_t>(1, wanted_bytes / step) * step;
  const auto wanted = static_cast<std::uint64_t>(std::max(wanted_bytes, step));
  return static_cast<std::int64_t>(std::bit_floor(wanted));
}

bool MemoryProbe::can_measure(Access access, std::int64_t footprint_bytes) const {
  if (footprint_bytes != footprint_near(footprint_bytes)) return false;
  if (footprint_bytes > memory_.vectors * walk_.lanes * 4) return false;
  if (access != Access::image_read) return true;
  const DeviceInfo& info = device_->info();
  const std::int64_t texels = footprint_bytes / (kTexelLanes * 4);
  return info.image.supported && texels <= info.image.max_width * info.image.max_height / 4;
}

void MemoryProbe::fill() {
  kernels_.fill.setArg(0, memory_.elements);
  kernels_.fill.setArg(1, to_uint(memory_.vectors * walk_.lanes));
  kernels_.fill.setArg(2, kFactor);
  (void)launch_ms(queue_, kernels_.fill, walk_.work_items, walk_.work_group);
}

void MemoryProbe::make_image(std::int64_t texels) {
  // The widest power of two that divides the texels and leaves no more rows than columns, if rows
  // may be that long.
  const std::int64_t limit = std::min<std::int64_t>(device_->info().image.max_width, texels);
  std::int64_t width = 1;
  while (width * 2 <= limit && texels % (width * 2) == 0 && width * width < texels) width *= 2;
  image_.width = width;
  const auto extent = [](std::int64_t value) { return static_cast<cl::size_type>(value); };
  image_.texels =
      cl::Image2D(device_->context(), CL_MEM_READ_ONLY, cl::ImageFormat(CL_RGBA, CL_UNSIGNED_INT32),
                  extent(width), extent(texels / width));
  fill();
  queue_.enqueueCopyBufferToImage(memory_.elements, image_.texels, 0, {0, 0, 0},
                                  {extent(width), extent(texels / width), 1});
  queue_.finish();
}

std::int64_t MemoryProbe::touched(Access access, std::int64_t footprint_bytes,
                                  std::int64_t rounds) const {
  if (!walk_.parts) return walk_.work_items * kTurn * rounds;
  const std::int64_t vector_bytes =
      access == Access::image_read ? kTexelLanes * 4 : walk_.lanes * 4;
  return footprint_bytes / vector_bytes / (access == Access::copy ? 2 : 1) * rounds;
}

std::int64_t MemoryProbe::least_rounds(Access access, std::int64_t footprint_bytes) const {
  const std::int64_t vectors =
      footprint_bytes / (walk_.lanes * 4) / (access == Access::copy ? 2 : 1);
  const std::int64_t one = touched(access, footprint_bytes, 1);
  return walk_.parts ? 1 : (vectors + one - 1) / one;
}

double MemoryProbe::run_ms(Access access, std::int64_t footprint_bytes, std::int64_t rounds) {
  const bool image = access == Access::image_read;
  const std::int64_t vector_bytes = image ? kTexelLanes * 4 : walk_.lanes * 4;
  const std::int64_t vectors = footprint_bytes / vector_bytes / (access == Access::copy ? 2 : 1);
  cl::Kernel& kernel = access == Access::read    ? kernels_.read
                       : access == Access::write ? kernels_.write
                       : access == Access::copy  ? kernels_.copy
                                                 : kernels_.image_read;
  double ms = 0.0;
  with_device_errors(kWhat, device_->info(), [&] {
    if (image) {
      kernel.setArg(0, image_.texels);
      kernel.setArg(5, to_uint(std::countr_zero(static_cast<std::uint64_t>(image_.width))));
    } else {
      kernel.setArg(0, memory_.elements);
    }
    kernel.setArg(1, to_uint(0));
    kernel.setArg(2, to_uint(vectors));
    kernel.setArg(3, to_uint(rounds));
    if (image || access == Access::read) {
      kernel.setArg(4, memory_.sums);
    } else {
      kernel.setArg(4, ++memory_.seed);
    }
    ms = launch_ms(queue_, kernel, walk_.work_items, walk_.work_group);
  });
  return ms;
}

std::uint32_t MemoryProbe::read_sum() {
  std::vector<cl_uint> sums(static_cast<std::size_t>(walk_.work_items));
  with_device_errors(kWhat, device_->info(), [&] {
    queue_.enqueueReadBuffer(memory_.sums, CL_TRUE, 0, sums.size() * sizeof(sums[0]), sums.data());
  });
  return std::accumulate(sums.begin(), sums.end(), 0U);
}

std::uint32_t MemoryProbe::sum_by_kernel(const Range& range) {
  with_device_errors(kWhat, device_->info(), [&] {
    kernels_.read.setArg(0, memory_.elements);
    kernels_.read.setArg(1, to_uint(range.first));
    kernels_.read.setArg(2, to_uint(range.vectors));
    kernels_.read.setArg(3, to_uint(least_rounds(Access::read, range.vectors * walk_.lanes * 4)));
    kernels_.read.setArg(4, memory_.sums);
    (void)launch_ms(queue_, kernels_.read, walk_.work_items, walk_.work_group);
  });
  return read_sum();
}

void MemoryProbe::check(Access access, std::int64_t footprint_bytes, std::int64_t rounds) {
  std::uint32_t expected = 0;
  std::uint32_t got = 0;
  if (access == Access::read || access == Access::image_read) {
    const std::int64_t lanes = access == Access::read ? walk_.lanes : kTexelLanes;
    expected = expected_sum(footprint_bytes / 4, touched(access, footprint_bytes, rounds) * lanes);
    got = read_sum();
  } else {
    const std::int64_t vectors =
        footprint_bytes / (walk_.lanes * 4) / (access == Access::copy ? 2 : 1);
    const std::int64_t range_bytes = vectors * walk_.lanes * 4;
    const std::int64_t reading =
        touched(Access::read, range_bytes, least_rounds(Access::read, range_bytes)) * walk_.lanes;
    const std::uint32_t value =
        memory_.seed + (walk_.parts ? static_cast<std::uint32_t>(rounds - 1) : 0U);
    expected = static_cast<std::uint32_t>(reading) * value;
    if (access == Access::copy) expected += expected_sum(vectors * walk_.lanes, reading);
    got = sum_by_kernel({access == Access::copy ? vectors : 0, vectors});
  }
  if (got == expected) return;
  throw DeviceError(std::string(kWhat) + ": over " + std::to_string(footprint_bytes) +
                    " bytes the sum is " + std::to_string(got) + " where " +
                    std::to_string(expected) + " was expected, on " + device_->info().name +
                    ": its driver does not run what was written; update it, or use another device");
}

std::vector<double> MemoryProbe::measure(Access access, std::int64_t footprint_bytes,
                                         const Sampling& sampling) {
  if (!can_measure(access, footprint_bytes)) {
    throw InternalError(std::string(kWhat) + ": a footprint of " + std::to_string(footprint_bytes) +
                        " bytes cannot be had");
  }
  with_device_errors(kWhat, device_->info(), [&] {
    if (access == Access::image_read) {
      make_image(footprint_bytes / (kTexelLanes * 4));
    } else if (access != Access::write) {
      fill();
    }
  });
  const std::int64_t least = least_rounds(access, footprint_bytes);
  const Work work = [&](std::int64_t amount) {
    return run_ms(access, footprint_bytes, amount * least);
  };
  const std::int64_t amount = sufficient_amount(work, 1, kMostCopyRounds / least, sampling, kWhat);
  const std::int64_t vector_bytes =
      access == Access::image_read ? kTexelLanes * 4 : walk_.lanes * 4;
  const double bytes = static_cast<double>(touched(access, footprint_bytes, least) * vector_bytes) *
                       (access == Access::copy ? 2.0 : 1.0);
  std::vector<double> rates;
  for (const double ms : samples_of(work, amount, sampling)) rates.push_back(bytes / (ms * 1e6));
  check(access, footprint_bytes, amount * least);
  (void)device_->programs().store(access == Access::image_read ? *kernels_.image_program
                                                               : *kernels_.program);
  return rates;
}

}  // namespace morton::device
