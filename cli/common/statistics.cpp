// SPDX-License-Identifier: Apache-2.0
#include "common/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace morton::cli {
namespace {

double percentile(std::span<const double> sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - std::floor(position));
}

}  // namespace

Statistics statistics_of(std::vector<double> samples) {
  Statistics result;
  result.n = samples.size();
  if (samples.empty()) return result;
  std::ranges::sort(samples);
  const auto n = static_cast<double>(samples.size());
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  double squares = 0.0;
  for (const double sample : samples) squares += (sample - result.mean) * (sample - result.mean);
  result.stddev = samples.size() > 1 ? std::sqrt(squares / (n - 1.0)) : 0.0;
  result.min = samples.front();
  result.p25 = percentile(samples, 0.25);
  result.p50 = percentile(samples, 0.50);
  result.p75 = percentile(samples, 0.75);
  result.p90 = percentile(samples, 0.90);
  result.p95 = percentile(samples, 0.95);
  result.p99 = percentile(samples, 0.99);
  result.max = samples.back();
  return result;
}

std::optional<double> Statistics::standard_error() const {
  if (n < 2) return std::nullopt;
  return stddev / std::sqrt(static_cast<double>(n));
}

double median_of(std::vector<double> samples) { return statistics_of(std::move(samples)).p50; }

Json to_json(const Statistics& statistics) {
  return {
      {"n", statistics.n},        {"mean_ms", statistics.mean}, {"stddev_ms", statistics.stddev},
      {"min_ms", statistics.min}, {"p50_ms", statistics.p50},   {"p90_ms", statistics.p90},
      {"p95_ms", statistics.p95}, {"p99_ms", statistics.p99},   {"max_ms", statistics.max}};
}

std::optional<double> device_ms(std::span<const StepTime> steps) {
  bool any = false;
  double sum_us = 0.0;
  for (const StepTime& step : steps) {
    if (step.place == StepInfo::Place::host) continue;
    if (!step.device_us) return std::nullopt;
    any = true;
    sum_us += *step.device_us;
  }
  return any ? std::optional(sum_us / 1e3) : std::nullopt;
}

std::string why_no_device_time(const std::vector<StepInfo>& steps) {
  const bool all_on_host = std::ranges::all_of(
      steps, [](const StepInfo& step) { return step.place == StepInfo::Place::host; });
  return all_on_host ? "no step runs on the device" : "this device gives no times of its own";
}

std::string number_text(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "n/a";
}

std::string digits_text(std::optional<double> value) {
  constexpr int kDigits = 4;
  if (!value || !std::isfinite(*value)) return "n/a";
  if (*value == 0.0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::abs(*value)))) + 1;
  return fmt::format("{:.{}f}", *value, std::max(0, kDigits - before));
}

}  // namespace morton::cli
