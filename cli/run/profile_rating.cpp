// SPDX-License-Identifier: Apache-2.0
// Steps against the device's peaks.
#include <fmt/format.h>

#include <algorithm>

#include "run/profile_measure.hpp"

namespace morton::cli {
namespace {

/// Whether the peak of f32 multiply-adds is what limits its arithmetic.
bool is_f32(const StepInfo& step) {
  return std::ranges::all_of(step.operands,
                             [](const StepOperand& operand) { return operand.type == DType::f32; });
}

}  // namespace

void rate(ProfiledStep& step, const RooflinePeaks& peaks) {
  if (step.info.place == StepInfo::Place::host) {
    step.bound_by = "host";
    return;
  }
  const auto flop = static_cast<double>(step.info.flop);
  const auto bytes = static_cast<double>(step.info.logical_bytes);
  const double bandwidth = bandwidth_at(peaks, step.info.footprint_bytes);
  // GFLOP/s is 1e3 operations a microsecond, GB/s 1e3 bytes a microsecond.
  const double arithmetic_us = is_f32(step.info) ? flop / (peaks.gflops_f32 * 1e3) : 0.0;
  const double memory_us = bytes / (bandwidth * 1e3);
  // Products of other types have a peak that nobody measured.
  const bool unknown = !is_f32(step.info) && flop > bytes;
  step.bound_by = unknown                                                ? "n/a"
                  : std::max(arithmetic_us, memory_us) < peaks.launch_us ? "launch"
                  : arithmetic_us > memory_us                            ? "arithmetic"
                                                                         : "memory";
  if (!step.device_us) return;
  if (is_f32(step.info)) step.arithmetic = {flop / (*step.device_us * 1e3), peaks.gflops_f32};
  step.memory = {bytes / (*step.device_us * 1e3), bandwidth};
}

std::vector<std::string> impossible_shares(const Profile& profile, const RooflinePeaks& peaks) {
  std::vector<std::string> lines;
  const auto look = [&](const ProfiledStep& step, const char* peak, const char* unit,
                        const std::optional<ShareOfPeak>& share) {
    if (!share || share->share() <= kMostShare) return;
    lines.push_back(fmt::format(
        "step '{}' ({}): {:.4g} {} is {:.0f} % of the {} peak of {:.4g} {} ({}), which cannot be: "
        "either the peak was measured on a busy machine ('morton probe' measures it again) or the "
        "step's figures are wrong",
        step.info.name, step.info.kernel, share->rate, unit, 100.0 * share->share(), peak,
        share->peak, unit, peaks.source));
  };
  for (const ProfiledStep& step : profile.steps) {
    look(step, "arithmetic", "GFLOP/s", step.arithmetic);
    look(step, "memory", "GB/s", step.memory);
  }
  return lines;
}

}  // namespace morton::cli
