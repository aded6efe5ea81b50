// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/statistics.hpp"
#include "morton/roofline_peaks.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// What one of a device's peaks has to do with a step.
struct ShareOfPeak {
  double rate = 0.0;  ///< GFLOP/s or GB/s of the step
  double peak = 0.0;  ///< the most that the device does
  [[nodiscard]] double share() const { return rate / peak; }
};

/// One step of a model, measured. Times are medians in microseconds.
struct ProfiledStep {
  StepInfo info;
  double host_us = 0.0;                   ///< the step alone, from enqueuing it to its end
  double enqueue_us = 0.0;                ///< the host's part of a run
  std::optional<double> device_us;        ///< nothing where the device gives no times
  std::vector<CallTime> calls;            ///< of a library's routines, which make up device_us
  std::optional<ShareOfPeak> arithmetic;  ///< nothing for types whose peak is not known
  std::optional<ShareOfPeak> memory;
  /// What sets the least time that it can take: "arithmetic", "memory" or "launch"; "host" for a
  /// step there, to which the device's peaks say nothing; "n/a" for products of types whose peak is
  /// not known.
  std::string bound_by;
};

/// A model, measured step by step. Times are medians in milliseconds.
struct Profile {
  std::vector<ProfiledStep> steps;
  std::int64_t runs = 0;
  double end_to_end_ms = 0.0;        ///< host's clock of the runs whose steps were measured
  double plain_ms = 0.0;             ///< the same of runs that were not
  double enqueue_ms = 0.0;           ///< the host's part of the measured runs
  std::optional<double> on_host_ms;  ///< of that, steps on the host, with what they wait for
  std::optional<double> steps_ms;    ///< sum of the steps on the device's clock
  std::optional<double> gap_ms;      ///< end to end without the steps, of each run
  std::optional<double>
      between_ms;  ///< of the gap, between the first step's start and the last's end
  std::vector<StepTime> fastest_run;  ///< for the trace
  double fastest_run_us = 0.0;        ///< end to end
};

/// Runs the model in turns without measuring, measuring its steps, and waiting after each, until
/// the time or the number of runs that `options` names; then rates the steps by `peaks`.
[[nodiscard]] Profile measure_profile(const CompiledModel& model, const RooflinePeaks& peaks,
                                      const MeasureOptions& options);

/// Rates a step by its device_us; leaves out what cannot be known.
void rate(ProfiledStep& step, const RooflinePeaks& peaks);

/// One line for each peak that a step seems to exceed (kMostShare of it).
[[nodiscard]] std::vector<std::string> impossible_shares(const Profile& profile,
                                                         const RooflinePeaks& peaks);

}  // namespace morton::cli
