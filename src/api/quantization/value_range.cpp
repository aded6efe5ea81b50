// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace morton::api {
namespace {

constexpr std::size_t kBins = 2048;
constexpr std::size_t kSteps = 256;  ///< of u8

/// The relative entropy of `counts` [first, last) and of what is left of it in `kSteps` steps: what
/// lies outside falls into the bins at its ends. Infinite where nothing lies inside.
double lost_entropy(const std::vector<std::int64_t>& counts, std::size_t first, std::size_t last) {
  std::vector<double> given(counts.begin() + static_cast<std::ptrdiff_t>(first),
                            counts.begin() + static_cast<std::ptrdiff_t>(last));
  const std::vector<double> inside = given;
  for (std::size_t i = 0; i < first; ++i) given.front() += static_cast<double>(counts[i]);
  for (std::size_t i = last; i < counts.size(); ++i) given.back() += static_cast<double>(counts[i]);
  // Each step spreads what it holds evenly over those of its bins that are not empty.
  std::vector<double> left(inside.size(), 0.0);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::size_t from = step * inside.size() / kSteps;
    const std::size_t to = (step + 1) * inside.size() / kSteps;
    double sum = 0.0;
    double filled = 0.0;
    for (std::size_t i = from; i < to; ++i) {
      sum += inside[i];
      filled += inside[i] > 0.0 ? 1.0 : 0.0;
    }
    for (std::size_t i = from; i < to; ++i) left[i] = inside[i] > 0.0 ? sum / filled : 0.0;
  }
  const double all_given = std::accumulate(given.begin(), given.end(), 0.0);
  const double all_left = std::accumulate(left.begin(), left.end(), 0.0);
  if (all_left <= 0.0) return std::numeric_limits<double>::infinity();
  double lost = 0.0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] <= 0.0) continue;
    const double p = given[i] / all_given;
    // An empty bin at an end that took what lies outside: as rare as one value.
    const double q = std::max(left[i], 1.0) / all_left;
    lost += p * std::log(p / q);
  }
  return lost;
}

}  // namespace

bool ValueCounts::widen(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
    low_ = std::min<double>(low_, value);
    high_ = std::max<double>(high_, value);
  }
  return true;
}

void ValueCounts::count(std::span<const float> values) {
  bins_.resize(kBins, 0);
  const double per_value = high_ > low_ ? static_cast<double>(kBins) / (high_ - low_) : 0.0;
  for (const float value : values) {
    if (value == 0.0F) {
      ++zeros_;
      continue;
    }
    const double place = (static_cast<double>(value) - low_) * per_value;
    ++bins_[std::min(static_cast<std::size_t>(std::max(place, 0.0)), kBins - 1)];
  }
}

double ValueCounts::edge(std::size_t bin) const {
  return low_ + (high_ - low_) * static_cast<double>(bin) / static_cast<double>(kBins);
}

std::size_t ValueCounts::bin_of_zero() const {
  return static_cast<std::size_t>(std::clamp(-low_ / (high_ - low_) * static_cast<double>(kBins),
                                             0.0, static_cast<double>(kBins)));
}

ValueRange ValueCounts::within(double percentile) const {
  std::vector<std::int64_t> bins = bins_;
  bins[std::min(bin_of_zero(), kBins - 1)] += zeros_;
  const auto all = static_cast<double>(std::accumulate(bins.begin(), bins.end(), std::int64_t{0}));
  // Half of what lies outside at each end.
  const double outside = all * (1.0 - percentile / 100.0) / 2.0;
  std::size_t first = 0;
  for (double seen = 0.0; first < kBins; ++first) {
    seen += static_cast<double>(bins[first]);
    if (seen > outside) break;
  }
  std::size_t last = kBins;
  for (double seen = 0.0; last > first + 1; --last) {
    seen += static_cast<double>(bins[last - 1]);
    if (seen > outside) break;
  }
  return {edge(first), edge(last)};
}

ValueRange ValueCounts::of_least_entropy() const {
  // Both ends move towards 0 in proportion, so that one-sided values keep their side.
  const std::size_t zero = bin_of_zero();
  ValueRange best{low_, high_};
  double least = std::numeric_limits<double>::infinity();
  constexpr std::size_t kTried = 112;  // down to an eighth of the range
  for (std::size_t tried = 0; tried < kTried; ++tried) {
    const std::size_t first = zero * tried / 128;
    const std::size_t last = kBins - (kBins - zero) * tried / 128;
    if (last - first < kSteps) break;
    const double lost = lost_entropy(bins_, first, last);
    if (lost >= least) continue;
    least = lost;
    best = {edge(first), edge(last)};
  }
  return best;
}

ValueRange ValueCounts::range(QuantizeOptions::Range kind, double percentile) const {
  ValueRange found{low_, high_};
  if (high_ > low_ && !bins_.empty()) {
    if (kind == QuantizeOptions::Range::percentile) found = within(percentile);
    if (kind == QuantizeOptions::Range::entropy) found = of_least_entropy();
  }
  if (low_ > high_) found = {0.0, 0.0};
  return {std::min(found.low, 0.0), std::max(found.high, 0.0)};
}

Code code_of(const ValueRange& range) {
  const double width = range.high - range.low;
  // Files hold scales in f32: the zero point belongs to that one.
  const auto scale = static_cast<float>(width / static_cast<double>(kSteps - 1));
  if (!(scale > 0.0F)) return {};
  const double zero = std::nearbyint(-range.low / static_cast<double>(scale));
  return {static_cast<double>(scale), static_cast<std::int64_t>(std::clamp(zero, 0.0, 255.0))};
}

}  // namespace morton::api
