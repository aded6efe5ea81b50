// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "morton/export.hpp"

namespace morton {

/// The best bandwidth that was measured over so many bytes, read or written again and again.
struct FootprintBandwidth {
  std::int64_t footprint_bytes = 0;
  double gigabytes_per_second = 0.0;
};

/// A product that the host computed on one thread, and the microseconds that it took.
struct HostProduct {
  std::int64_t flop = 0;
  double us = 0.0;
};

/// Costs of steps on the host where it shares the device's memory; empty where nobody measured.
struct HostPeaks {
  double launch_and_step_us = 0.0;    ///< a small kernel, then a step on the host that has no work
  std::vector<HostProduct> products;  ///< from small ones to large ones
};

/// The peaks of a device, measured, declared or guessed. Zero means unknown.
struct RooflinePeaks {
  double gflops_f32 = 0.0;
  double gigabytes_per_second = 0.0;  ///< of memory beyond all caches
  double launch_us = 0.0;             ///< from one small kernel to the next
  double launch_and_wait_us = 0.0;    ///< a small kernel, the host waiting for it
  /// From small footprints, which caches hold, to large ones; empty where nobody measured.
  std::vector<FootprintBandwidth> bandwidth;
  std::string source;  ///< "measured <date>", "declared", or "guessed from clock and compute units"
  HostPeaks host{};
};

/// The most that memory gives to a step that touches `footprint_bytes`, in GB/s: the best of the
/// footprints from the largest that is no larger than this one on, for what fits a cache need not
/// come from beyond it. Without measured footprints gigabytes_per_second.
[[nodiscard]] MORTON_API double bandwidth_at(const RooflinePeaks& peaks,
                                             std::int64_t footprint_bytes);

}  // namespace morton
