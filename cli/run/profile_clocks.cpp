// SPDX-License-Identifier: Apache-2.0
#include "run/profile_clocks.hpp"

#include <algorithm>

namespace morton::cli {

ClockPair::ClockPair(const std::vector<StepTime>& run) {
  const auto has_span = [](const StepTime& time) { return time.device_span.has_value(); };
  const auto first = std::ranges::find_if(run, has_span);
  if (first == run.end()) return;
  const StepSpan& span = *first->device_span;
  is_known_ = true;
  host_us_ = first->enqueued_at_us;
  device_ns_ = span.enqueued_ns != 0 ? span.enqueued_ns : span.start_ns;
}

}  // namespace morton::cli
