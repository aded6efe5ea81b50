// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/given_model.hpp"
#include "morton/error.hpp"
#include "morton/segments.hpp"
#include "morton/tensor.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {

/// What a model that is cut into segments gives.
struct SegmentsAnswer {
  std::vector<NamedTensor> outputs;
  SegmentsReport report;
};

/// Runs a model that `error` refuses to plan as a whole, and logs its waits. Throws
/// UnsupportedError for --strict, several devices and steps; what SegmentedSession throws.
[[nodiscard]] SegmentsAnswer run_in_segments(const GivenModel& model,
                                             const std::vector<Device>& devices,
                                             const CompileOptions& compile, const RunSteps& steps,
                                             std::int64_t most_turns,
                                             const std::vector<NamedTensor>& inputs,
                                             const NeedsSegments& error);

}  // namespace morton::cli
