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
  bool has_values = false;
  std::vector<double> errors{};  ///< by channel: sums of (exact - rounded)
  std::int64_t count = 0;        ///< numbers of a channel that these are sums of

  /// Adds to the sums of squares. False, and nothing is added, unless both are f32 of one shape.
  [[nodiscard]] bool add(const Tensor& exact, const Tensor& rounded);
  /// Adds f32 values of one shape, whose channels lie along a dimension, to the errors.
  void add_errors(const Tensor& exact, const Tensor& rounded, std::size_t channel);
  /// Of a channel; 0 where nothing was added.
  [[nodiscard]] double mean_error(std::size_t channel) const;
  /// Infinite where nothing was lost, NaN where nothing was added.
  [[nodiscard]] double decibels() const;
};

}  // namespace morton::api
