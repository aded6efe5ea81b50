// SPDX-License-Identifier: Apache-2.0
#include "tools/probing/measured.hpp"

#include <algorithm>

namespace morton::tools {

Measured measured(std::vector<double> samples, Best best) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  Measured result;
  result.samples = static_cast<int>(samples.size());
  result.median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2.0;
  result.best = best == Best::greatest ? samples.back() : samples.front();
  return result;
}

Sampling sampling_of(const ProbeOptions& options) {
  return is_quick(options) ? Sampling{5, 3.0} : Sampling{9, 8.0};
}

}  // namespace morton::tools
