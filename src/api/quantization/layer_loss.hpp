// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::api {

/// What rounding did to the results of one layer.
struct LayerLoss {
  double signal = 0.0, noise = 0.0;  ///< sums of squares
  std::vector<double> errors{};      ///< by channel: sums of (exact - rounded)
  std::int64_t count = 0;            ///< numbers of a channel

  /// Adds results of one shape, f32, whose channels lie along a dimension.
  void add(const Tensor& exact, const Tensor& rounded, std::size_t channel);
  /// Adds results as one channel. False, and nothing is added, unless both are f32 of one shape.
  [[nodiscard]] bool add(const Tensor& exact, const Tensor& rounded);
  /// Infinite where nothing was lost, NaN where nothing was added.
  [[nodiscard]] double decibels() const;
};

}  // namespace morton::api
