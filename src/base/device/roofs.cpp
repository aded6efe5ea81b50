// SPDX-License-Identifier: Apache-2.0
#include "morton/roofs.hpp"

#include <algorithm>

namespace morton {

double bandwidth_at(const Roofs& roofs, std::int64_t footprint_bytes) {
  double best = 0.0;
  for (std::size_t i = 0; i < roofs.bandwidth.size(); ++i) {
    const bool last = i + 1 == roofs.bandwidth.size();
    if (!last && roofs.bandwidth[i + 1].footprint_bytes <= footprint_bytes) continue;
    best = std::max(best, roofs.bandwidth[i].gigabytes_per_second);
  }
  return roofs.bandwidth.empty() ? roofs.gigabytes_per_second : best;
}

}  // namespace morton
