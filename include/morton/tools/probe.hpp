// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/roofline_peaks.hpp"

namespace morton {

/// How a device is measured.
struct ProbeOptions {
  /// quick: fewer widths, footprints and samples, for a first look; a second or two.
  enum class Effort : std::uint8_t { full, quick } effort = Effort::full;
  /// Told what is being measured, and what share of the work is done (0 to 1). May be empty.
  std::function<void(const std::string& what, double fraction)> progress;
};

/// Statistics of several samples: their median, the best of them (the greatest rate, the
/// shortest time), and how many there were.
struct Measured {
  double median = 0.0, best = 0.0;
  int samples = 0;
};

/// Multiply-adds in registers, two operations each.
struct MeasuredArithmetic {
  std::string type;       ///< "f32", "f16" or "i32"
  int width = 1;          ///< elements of a vector
  std::string operation;  ///< "fma", "mad", or "mul and add"
  Measured gflops;
};

/// Kernels that go through so much memory again and again.
struct MeasuredMemory {
  enum class Access : std::uint8_t { read, write, copy, image_read } access = Access::read;
  std::int64_t footprint_bytes = 0;
  Measured gigabytes_per_second;  ///< a copy counts what it reads and what it writes
};

/// Bytes between the host and a buffer of the device, on the host's clock.
struct MeasuredTransfer {
  enum class Direction : std::uint8_t { to_device, from_device } direction = Direction::to_device;
  /// From or to ordinary memory; memory that the driver gave (CL_MEM_ALLOC_HOST_PTR); or by mapping
  /// the buffer, copying on the host and unmapping it.
  enum class Way : std::uint8_t { pageable, pinned, mapped } way = Way::pageable;
  std::int64_t bytes = 0;
  Measured gigabytes_per_second;
};

/// A square product on one thread of the host, operands in its caches.
struct MeasuredHostProduct {
  std::int64_t size = 0;  ///< rows and columns
  Measured us;
};

/// The peaks of a device, measured. Every figure was checked: sums and bytes came out right.
struct ProbeResult {
  std::string date;  ///< "2026-01-31", of the host's clock (UTC)
  ProbeOptions::Effort effort = ProbeOptions::Effort::full;
  std::vector<MeasuredArithmetic> arithmetic;
  /// Clock x width x units, where the driver knows its clock; else 0. `clock_product_text` says how
  /// it was reckoned.
  double clock_product_gflops = 0.0;
  std::string clock_product_text;
  std::vector<MeasuredMemory> memory;  ///< by access, footprints going up
  std::vector<MeasuredTransfer> transfers;
  Measured map_us;              ///< mapping a buffer and unmapping it, the host touching nothing
  Measured launch_us;           ///< of launches that follow each other
  Measured launch_and_wait_us;  ///< of launches that the host waits for one by one
  /// Where the device shares the host's memory, else empty: products by size, and a launch with a
  /// step on the host behind it that waits for it and maps its operands.
  std::vector<MeasuredHostProduct> host_products;
  Measured launch_and_host_step_us;
  bool device_clock = true;  ///< false: its events carry no times, so all is by the host's clock
  std::vector<std::string> notes;  ///< anything that a user should know of
};

/// Measures `device`: its arithmetic, its memory, transfers, launches. Nothing else should run on
/// the machine meanwhile. Takes memory for the largest footprint while it runs. Throws DeviceError.
[[nodiscard]] MORTON_API ProbeResult probe(const Device& device, const ProbeOptions& options = {});

/// The peaks that a result speaks for: the best samples, because a peak cannot be exceeded; of
/// launches the medians, since those are costs.
[[nodiscard]] MORTON_API RooflinePeaks peaks_of(const ProbeResult& result);

/// Keeps peaks_of(result) in the device's cache folder, where devices that are opened later find
/// them, and returns the file. Throws UsageError for a device without such a folder, ModelError
/// where the file cannot be written.
MORTON_API std::string keep_peaks(const Device& device, const ProbeResult& result);

}  // namespace morton
