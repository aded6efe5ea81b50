// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_latency.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace morton::device {
namespace {

constexpr const char* kLatency = "measuring the latency of loads";
/// Loads of a unit of work, a multiple of those in a turn of the loop.
constexpr std::int64_t kLoads = 512;
constexpr std::int64_t kMostUnits = std::int64_t{1} << 22;

/// `at` goes on where the launch before has ended.
constexpr const char* kLatencyKernels = R"(
__kernel void chase(__global const uint* next, uint loads, __global uint* place) {
  uint at = *place;
  for (uint i = 0; i < loads; i += 8) {
    at = next[at]; at = next[at]; at = next[at]; at = next[at];
    at = next[at]; at = next[at]; at = next[at]; at = next[at];
  }
  *place = at;
}
__kernel void touch(__global const uint* next, uint count, __global uint* sums) {
  uint sum = 0;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += next[i];
  sums[get_global_id(0)] = sum;
}
)";

std::uint32_t chase_on_host(const std::vector<std::uint32_t>& next, std::uint32_t at,
                            std::int64_t loads) {
  const std::uint32_t* const elements = next.data();
  for (std::int64_t i = 0; i < loads; i += 8) {
    at = elements[at], at = elements[at], at = elements[at], at = elements[at];
    at = elements[at], at = elements[at], at = elements[at], at = elements[at];
  }
  return at;
}

void require_end(std::uint32_t got, std::uint32_t expected, const std::string& where) {
  if (got == expected) return;
  throw DeviceError(std::string(kLatency) + ": a chain of loads ended at element " +
                    std::to_string(got) + " where " + std::to_string(expected) +
                    " was expected, on " + where + ": no result of it can be trusted");
}

std::vector<double> ns_of_loads(const Work& work, const Sampling& sampling) {
  std::vector<double> times;
  const std::int64_t amount = sufficient_amount(work, 1, kMostUnits, sampling, kLatency);
  for (const double ms : samples_of(work, amount, sampling)) {
    times.push_back(ms * 1e6 / static_cast<double>(kLoads));
  }
  return times;
}

}  // namespace

LoadChain::LoadChain(std::int64_t footprint_bytes, std::int64_t stride_bytes)
    : elements_(static_cast<std::size_t>(footprint_bytes / 4)),
      cycle_(static_cast<std::size_t>(footprint_bytes / stride_bytes)) {
  const auto stride = static_cast<std::uint32_t>(stride_bytes / 4);
  for (std::size_t i = 0; i < cycle_.size(); ++i) {
    cycle_[i] = static_cast<std::uint32_t>(i) * stride;
  }
  // Element 0 stays first; any order of the others is one cycle.
  std::mt19937 random(1);
  for (std::size_t left = cycle_.size(); left > 2; --left) {
    std::swap(cycle_[left - 1], cycle_[1 + random() % (left - 1)]);
  }
  for (std::size_t i = 0; i < cycle_.size(); ++i) {
    elements_[cycle_[i]] = cycle_[(i + 1) % cycle_.size()];
  }
}

std::uint32_t LoadChain::end_after(std::int64_t loads) const {
  return cycle_[static_cast<std::size_t>(loads) % cycle_.size()];
}

LatencyProbe::LatencyProbe(std::shared_ptr<OpenClDevice> device) : device_(std::move(device)) {
  with_device_errors(kLatency, device_->info(), [&] {
    BuildReport report;
    program_ = device_->programs().get(kLatencyKernels, {"chase", "touch"}, report);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    chase_ = cl::Kernel(program_->program, "chase");
    touch_ = cl::Kernel(program_->program, "touch");
  });
}

void LatencyProbe::touch(const cl::Buffer& elements, std::int64_t count) {
  const DeviceInfo& info = device_->info();
  // A core of a CPU fills its own caches. The many of a GPU share the last one.
  const bool alone = info.kind == DeviceInfo::Kind::cpu;
  const std::int64_t group =
      alone ? 1 : std::min<std::int64_t>(64, info.compute.max_work_group_size);
  const std::int64_t items = alone ? 1 : group * info.compute.units * 4;
  const cl::Buffer sums(device_->context(), CL_MEM_READ_WRITE,
                        static_cast<cl::size_type>(items) * sizeof(cl_uint));
  touch_.setArg(0, elements);
  touch_.setArg(1, static_cast<cl_uint>(count));
  touch_.setArg(2, sums);
  (void)launch_ms(queue_, touch_, items, group);
}

std::vector<double> LatencyProbe::device_ns(const LoadChain& chain, const Sampling& sampling) {
  std::vector<double> times;
  with_device_errors(kLatency, device_->info(), [&] {
    const std::vector<std::uint32_t>& next = chain.elements();
    const std::size_t bytes = next.size() * sizeof(next[0]);
    const cl::Buffer elements(device_->context(), CL_MEM_READ_ONLY, bytes);
    queue_.enqueueWriteBuffer(elements, CL_TRUE, 0, bytes, next.data());
    cl_uint at = 0;
    const cl::Buffer place(device_->context(), CL_MEM_READ_WRITE, sizeof(at));
    queue_.enqueueWriteBuffer(place, CL_TRUE, 0, sizeof(at), &at);
    touch(elements, static_cast<std::int64_t>(next.size()));
    std::int64_t loaded = 0;
    chase_.setArg(0, elements);
    chase_.setArg(2, place);
    const Work work = [&](std::int64_t units) {
      chase_.setArg(1, static_cast<cl_uint>(units * kLoads));
      loaded += units * kLoads;
      return launch_ms(queue_, chase_, 1, 1);
    };
    times = ns_of_loads(work, sampling);
    queue_.enqueueReadBuffer(place, CL_TRUE, 0, sizeof(at), &at);
    require_end(at, chain.end_after(loaded), device_->info().name);
  });
  (void)device_->programs().store(*program_);
  return times;
}

std::vector<double> LatencyProbe::host_ns(const LoadChain& chain, const Sampling& sampling) {
  const std::vector<std::uint32_t>& next = chain.elements();
  [[maybe_unused]] const volatile std::uint32_t filled_caches =
      std::accumulate(next.begin(), next.end(), 0U);
  std::uint32_t at = 0;
  std::int64_t loaded = 0;
  const Work work = [&](std::int64_t units) {
    const Stopwatch watch;
    at = chase_on_host(next, at, units * kLoads);
    loaded += units * kLoads;
    return watch.milliseconds();
  };
  std::vector<double> times = ns_of_loads(work, sampling);
  require_end(at, chain.end_after(loaded), "the host");
  return times;
}

}  // namespace morton::device
