// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <map>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "device/open/kept_peaks.hpp"
#include "device/probe/peak.hpp"
#include "device/probe/probe_host.hpp"
#include "device/probe/probe_memory.hpp"
#include "device/probe/probe_transfer.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kLeastFootprint = 16 * kKiB;
constexpr std::int64_t kUsualFootprint = 512 * kMiB;
constexpr std::int64_t kQuickFootprint = 64 * kMiB;
/// Beyond this, elements no longer have 32-bit indices to spare.
constexpr std::int64_t kMostFootprint = 4096 * kMiB;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// Measures one device, part by part.
class Prober {
 public:
  Prober(const Device& device, const ProbeOptions& options)
      : device_(Inside::of(device)),
        options_(options),
        quick_(is_quick(options)),
        sampling_(sampling_of(options)) {}

  ProbeResult run() {
    result_.date = today();
    result_.effort = options_.effort;
    result_.device_clock = device_->info().features.profiling;
    measure_arithmetic();
    cross_check();
    measure_launches();
    measure_host();
    measure_transfers();
    note_disturbance();
    measure_memory();
    return std::move(result_);
  }

 private:
  [[nodiscard]] const DeviceInfo& info() const { return device_->info(); }

  void tell(const std::string& what, double fraction) const {
    if (options_.progress) options_.progress(what, fraction);
  }

  void measure_arithmetic() {
    tell("arithmetic", 0.0);
    measure_arithmetic(PeakType::f32,
                       quick_ ? std::vector<int>{1, 4, 16} : std::vector<int>{1, 2, 4, 8, 16});
    if (info().features.fp16) {
      measure_arithmetic(PeakType::f16,
                         quick_ ? std::vector<int>{8} : std::vector<int>{1, 2, 4, 8, 16});
    }
    if (!quick_) measure_arithmetic(PeakType::i32, {1, 4, 16});
  }

  void measure_arithmetic(PeakType type, const std::vector<int>& widths) {
    for (const int width : widths) {
      PeakKernel kernel(device_, width, type);
      (void)kernel.measure_gflops(sampling_.sample_ms);
      kernel.check_result();
      std::vector<double> samples;
      for (int i = 0; i < sampling_.samples; ++i) {
        samples.push_back(kernel.measure_gflops(2.0 * sampling_.sample_ms));
      }
      kernel.check_result();
      result_.arithmetic.push_back({std::string(name_of(type)), width, kernel.operation(),
                                    measured(samples, Best::greatest)});
    }
  }

  /// Says so where the machine was too busy for what is kept: medians of launches are.
  void note_disturbance() {
    constexpr double kFarApart = 10.0;
    const auto note = [&](const char* what, const Measured& us) {
      if (us.median <= kFarApart * us.best) return;
      result_.notes.push_back(fmt::format(
          "samples of {} lie far apart (median {:.2f} us, best {:.2f}): something else kept the "
          "machine busy; probe again when it is quiet, since plans rest on these figures",
          what, us.median, us.best));
    };
    note("a launch that is waited for", result_.launch_and_wait_us);
    note("mapping a buffer", result_.map_us);
  }

  /// What the clock promises, beside what was measured.
  void cross_check() {
    if (info().compute.clock_mhz == 0) {
      result_.clock_product_text = "the driver does not know its clock";
      return;
    }
    const double gigahertz = static_cast<double>(info().compute.clock_mhz) / 1e3;
    const auto units = static_cast<double>(info().compute.units);
    const double measured_gflops = peaks_of(result_).gflops_f32;
    const double a_cycle = measured_gflops / 2.0 / (gigahertz * units);
    result_.clock_product_gflops = guessed_peaks(info()).gflops_f32;
    const double lanes = result_.clock_product_gflops / 2.0 / (gigahertz * units);
    result_.clock_product_text = fmt::format(
        "{:.2f} GHz x {} units x {:.0f} multiply-adds a cycle x 2; measured: {:.1f} multiply-adds "
        "a "
        "cycle and unit",
        gigahertz, info().compute.units, lanes, a_cycle);
    constexpr double kRounding = 1.02;
    if (measured_gflops > kRounding * result_.clock_product_gflops) {
      result_.notes.push_back(
          "more arithmetic was measured than clock x width x units: the units do more in a cycle "
          "than is assumed of this kind of device, or run faster than the driver says");
    }
  }

  void measure_launches() {
    tell("launches", 0.2);
    LaunchProbe launches(device_);
    using Wait = LaunchProbe::Wait;
    result_.launch_us = measured(launches.measure_us(Wait::at_the_end, sampling_), Best::least);
    result_.launch_and_wait_us =
        measured(launches.measure_us(Wait::after_each, sampling_), Best::least);
  }

  /// Only where the host can compute on the device's memory.
  void measure_host() {
    if (!info().memory.is_unified) return;
    tell("the host", 0.25);
    HostProbe host(device_);
    const std::vector<std::int64_t> sizes = quick_
                                                ? std::vector<std::int64_t>{8, 32, 128}
                                                : std::vector<std::int64_t>{4, 8, 16, 32, 64, 128};
    for (const std::int64_t size : sizes) {
      result_.host_products.push_back(
          {size, measured(host.product_us(size, sampling_), Best::least)});
    }
    result_.launch_and_host_step_us = measured(host.launch_and_step_us(sampling_), Best::least);
  }

  void measure_transfers() {
    tell("transfers", 0.3);
    using Direction = TransferProbe::Direction;
    using Way = TransferProbe::Way;
    const std::vector<std::int64_t> sizes =
        quick_ ? std::vector{4 * kMiB} : std::vector{64 * kKiB, 4 * kMiB, 64 * kMiB};
    for (const std::int64_t size : sizes) {
      if (size > info().memory.max_allocation_bytes) continue;
      TransferProbe transfers(device_, size);
      for (const auto direction : {Direction::to_device, Direction::from_device}) {
        for (const auto way : {Way::pageable, Way::pinned, Way::mapped}) {
          const auto samples = transfers.measure(direction, way, sampling_);
          result_.transfers.push_back({static_cast<MeasuredTransfer::Direction>(direction),
                                       static_cast<MeasuredTransfer::Way>(way), size,
                                       measured(samples, Best::greatest)});
        }
      }
      result_.map_us = measured(transfers.map_us(Direction::to_device, sampling_), Best::least);
    }
  }

  /// Well beyond the caches, within a quarter of the largest allocation.
  [[nodiscard]] std::int64_t largest_footprint() const {
    const std::int64_t wanted =
        quick_ ? kQuickFootprint : std::max(kUsualFootprint, 2 * info().memory.cache_bytes);
    const auto most = std::min({wanted, info().memory.max_allocation_bytes / 4, kMostFootprint});
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
  }

  void measure_memory() {
    const std::int64_t largest = largest_footprint();
    if (largest < 2 * info().memory.cache_bytes) {
      result_.notes.push_back(fmt::format(
          "the largest footprint, {} MiB, is less than twice the cache of {} MiB that the driver "
          "states: the bandwidth of memory may be that of a cache",
          largest / kMiB, info().memory.cache_bytes / kMiB));
    }
    MemoryProbe memory(device_, largest);
    using Access = MemoryProbe::Access;
    for (const Access access : {Access::read, Access::write, Access::copy, Access::image_read}) {
      // Images go through another path; a few footprints show it.
      const bool image = access == Access::image_read;
      const std::int64_t factor = quick_ || image ? 16 : 2;
      const std::int64_t most = image ? std::min(largest, kQuickFootprint) : largest;
      std::int64_t before = 0;
      for (std::int64_t wanted = kLeastFootprint; wanted <= most; wanted *= factor) {
        const std::int64_t footprint = memory.footprint_near(wanted);
        if (footprint == before || !memory.can_measure(access, footprint)) continue;
        before = footprint;
        tell("memory", 0.4 + 0.15 * static_cast<double>(access));
        const auto samples = memory.measure(access, footprint, sampling_);
        result_.memory.push_back({static_cast<MeasuredMemory::Access>(access), footprint,
                                  measured(samples, Best::greatest)});
      }
    }
  }

  std::shared_ptr<OpenClDevice> device_;
  const ProbeOptions& options_;
  bool quick_;
  Sampling sampling_;
  ProbeResult result_;
};

}  // namespace

ProbeResult probe(const Device& device, const ProbeOptions& options) {
  return Prober(device, options).run();
}

RooflinePeaks peaks_of(const ProbeResult& result) {
  RooflinePeaks peaks;
  for (const MeasuredArithmetic& arithmetic : result.arithmetic) {
    if (arithmetic.type != "f32") continue;
    peaks.gflops_f32 = std::max(peaks.gflops_f32, arithmetic.gflops.best);
  }
  std::map<std::int64_t, double> best;
  for (const MeasuredMemory& memory : result.memory) {
    double& rate = best[memory.footprint_bytes];
    rate = std::max(rate, memory.gigabytes_per_second.best);
  }
  for (const auto& [footprint, rate] : best) peaks.bandwidth.push_back({footprint, rate});
  if (!best.empty()) peaks.gigabytes_per_second = best.rbegin()->second;
  peaks.launch_us = result.launch_us.median;
  peaks.launch_and_wait_us = result.launch_and_wait_us.median;
  for (const MeasuredHostProduct& product : result.host_products) {
    const std::int64_t flop = 2 * product.size * product.size * product.size;
    peaks.host.products.push_back({flop, product.us.median});
  }
  peaks.host.launch_and_step_us = result.launch_and_host_step_us.median;
  peaks.source =
      "measured " + result.date + (result.effort == ProbeOptions::Effort::quick ? ", quickly" : "");
  return peaks;
}

std::string keep_peaks(const Device& device, const ProbeResult& result) {
  const OpenClDevice& opened = *Inside::of(device);
  return keep_peaks(opened.cache_folder(), opened.info(), peaks_of(result)).string();
}

}  // namespace morton
