// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/output.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// What a set of samples looks like, in the samples' unit.
struct Statistics {
  std::size_t n = 0;
  double mean = 0.0;
  double stddev = 0.0;  ///< of the sample (n - 1); 0 for one sample
  double min = 0.0, p25 = 0.0, p50 = 0.0, p75 = 0.0, p90 = 0.0, p95 = 0.0, p99 = 0.0, max = 0.0;

  /// The middle half of the samples lies within this: the interquartile range.
  [[nodiscard]] double iqr() const { return p75 - p25; }
  /// Of the mean; nothing for one sample, which has no spread.
  [[nodiscard]] std::optional<double> standard_error() const;
};

/// Percentiles are interpolated between neighbours. `samples` holds at least one.
[[nodiscard]] Statistics statistics_of(std::vector<double> samples);
[[nodiscard]] double median_of(std::vector<double> samples);

/// As an object with the unit in its keys: "mean_ms", ...
[[nodiscard]] Json to_json(const Statistics& statistics);

/// Sum of the times of the steps on the device, by its clock, in milliseconds; nothing where any of
/// them is missing, for a device without such a clock reports no time or zero, and where there are
/// none.
[[nodiscard]] std::optional<double> device_ms(std::span<const StepTime> steps);

/// Why a run of these steps has no such sum.
[[nodiscard]] std::string why_no_device_time(const std::vector<StepInfo>& steps);

/// "1.234" or "n/a".
[[nodiscard]] std::string number_text(std::optional<double> value, int decimals);
/// Four digits that count, without an exponent: "0.001234", "12.34", "123456"; or "n/a".
[[nodiscard]] std::string digits_text(std::optional<double> value);

/// Share of a peak above which a figure cannot be: the clocks' error is allowed for.
inline constexpr double kMostShare = 1.02;

}  // namespace morton::cli
