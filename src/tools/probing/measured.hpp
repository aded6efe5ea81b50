// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"
#include "morton/tools/probe.hpp"

namespace morton::tools {

/// Which sample is the best: the greatest rate, or the shortest time.
enum class Best : std::uint8_t { greatest, least };

/// Statistics of samples, of which there is at least one.
[[nodiscard]] Measured measured(std::vector<double> samples, Best best);

/// How long each thing is measured.
[[nodiscard]] Sampling sampling_of(const ProbeOptions& options);

[[nodiscard]] inline bool is_quick(const ProbeOptions& options) {
  return options.effort == ProbeOptions::Effort::quick;
}

/// Tells whoever waits how far a probe is.
inline void tell(const ProbeOptions& options, const std::string& what, double fraction) {
  if (options.progress) options.progress(what, fraction);
}

}  // namespace morton::tools
