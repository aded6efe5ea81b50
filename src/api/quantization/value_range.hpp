// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "morton/quantize.hpp"

namespace morton::api {

/// Ends of a range of values.
struct ValueRange {
  double low = 0.0, high = 0.0;
};

/// The values that a tensor takes, over many runs: their ends first, then how often each part of
/// what lies between.
class ValueCounts {
 public:
  /// Widens the ends. False where a value is not finite.
  [[nodiscard]] bool widen(std::span<const float> values);
  /// Counts values between the ends, which must be known.
  void count(std::span<const float> values);
  /// What the steps shall cover; it has 0 inside, which padding needs exactly.
  [[nodiscard]] ValueRange range(QuantizeOptions::Range kind, double percentile) const;

 private:
  [[nodiscard]] double edge(std::size_t bin) const;
  [[nodiscard]] std::size_t bin_of_zero() const;
  [[nodiscard]] ValueRange within(double percentile) const;
  [[nodiscard]] ValueRange of_least_entropy() const;

  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> bins_{};
  /// How often 0 itself came, which every code has exactly: behind a Relu half of all values, which
  /// say nothing of the range.
  std::int64_t zeros_ = 0;
};

/// A step and where 0 lies: value = scale * (code - zero).
struct Code {
  double scale = 1.0;
  std::int64_t zero = 0;
};

/// Of u8 over the range; a scale of 1 where the range is a point.
[[nodiscard]] Code code_of(const ValueRange& range);

}  // namespace morton::api
