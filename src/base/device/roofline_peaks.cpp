// SPDX-License-Identifier: Apache-2.0
#include "morton/roofline_peaks.hpp"

#include <algorithm>

namespace morton {

double bandwidth_at(const RooflinePeaks& peaks, std::int64_t footprint_bytes) {
  double best = 0.0;
  for (std::size_t i = 0; i < peaks.bandwidth.size(); ++i) {
    const bool last = i + 1 == peaks.bandwidth.size();
    if (!last && peaks.bandwidth[i + 1].footprint_bytes <= footprint_bytes) continue;
    best = std::max(best, peaks.bandwidth[i].gigabytes_per_second);
  }
  return peaks.bandwidth.empty() ? peaks.gigabytes_per_second : best;
}

}  // namespace morton
