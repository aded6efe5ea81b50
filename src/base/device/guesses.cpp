// SPDX-License-Identifier: Apache-2.0
//
// What is assumed of a device where neither the driver nor a measurement says it.
#include <algorithm>

#include "base/device/device_info.hpp"

namespace morton {
namespace {

/// Arm's processors have 32 vector registers in their 64-bit state.
bool is_arm64(const DeviceInfo& info) {
  const std::string& version = info.driver.device_version;
  return version.find("aarch64") != std::string::npos || version.find("arm64") != std::string::npos;
}

CoreFacts guessed_processor(const DeviceInfo& info) {
  const std::int64_t native = info.compute.native_vector_f32;
  CoreFacts core;
  core.lanes = native >= 16 ? 16 : native >= 8 ? 8 : 4;
  core.vector_registers = core.lanes == 16 || is_arm64(info) ? 32 : 16;
  core.multiply_adds_per_cycle = core.lanes >= 8 || is_arm64(info) ? 2 : 1;
  return core;
}

CoreFacts guessed_gpu(const DeviceInfo& info) {
  CoreFacts core;
  core.lanes = 32;
  core.vector_registers = 64;
  core.l1_bytes = info.memory.local_is_dedicated ? info.memory.local_bytes : 16 << 10;
  core.l2_bytes = info.memory.cache_bytes;
  return core;
}

}  // namespace

CoreFacts guessed_core(const DeviceInfo& info) {
  const bool is_processor = info.kind == DeviceInfo::Kind::cpu;
  CoreFacts core = is_processor ? guessed_processor(info) : guessed_gpu(info);
  for_each_core_fact(core, [&](const char* key, const auto&) {
    core.sources[key] = is_processor ? "guessed from the native vector" : "guessed of any GPU";
  });
  return core;
}

RooflinePeaks guessed_peaks(const DeviceInfo& info) {
  // A driver that does not know its clock (PoCL under an emulator) says 0.
  const double clock_ghz =
      (info.compute.clock_mhz > 0 ? static_cast<double>(info.compute.clock_mhz) : 1000.0) / 1e3;
  const auto units = static_cast<double>(info.compute.units);
  RooflinePeaks peaks;
  if (info.kind == DeviceInfo::Kind::cpu) {
    // Two fused multiply-adds per cycle on full vectors.
    const auto width =
        static_cast<double>(std::max<std::int64_t>(info.compute.native_vector_f32, 1));
    peaks.gflops_f32 = units * clock_ghz * 4.0 * width;
    peaks.gigabytes_per_second = std::max(10.0, 10.0 * units);
    // Caches give three times that. What lies in a core's share of the last of them stays there.
    constexpr std::int64_t kShareBytes = std::int64_t{8} << 20;
    const std::int64_t shares = std::max<std::int64_t>(info.compute.units, 1) * kShareBytes;
    const std::int64_t known = info.memory.cache_bytes;
    peaks.bandwidth = {{1, 3.0 * peaks.gigabytes_per_second},
                       {known > 0 ? std::min(known, shares) : shares, peaks.gigabytes_per_second}};
    peaks.launch_us = 3.0;
  } else if (info.memory.local_is_dedicated) {
    peaks.gflops_f32 = units * clock_ghz * 256.0;
    peaks.gigabytes_per_second = units * clock_ghz * 16.0;
    peaks.launch_us = 5.0;
  } else {
    // 17 GFLOP/s per compute unit at 500 MHz, as R17 counts for the Mali T-628; its memory is the
    // CPU's.
    peaks.gflops_f32 = units * clock_ghz * 34.0;
    peaks.gigabytes_per_second = std::max(4.0, 2.0 * units);
    peaks.launch_us = 50.0;
  }
  peaks.source = "guessed from clock and compute units";
  return peaks;
}

}  // namespace morton
