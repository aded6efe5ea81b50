// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/layer_loss.hpp"

#include <cmath>
#include <limits>

namespace morton::api {

bool LayerLoss::add(const Tensor& exact, const Tensor& rounded) {
  const bool alike = exact.dtype() == DType::f32 && rounded.dtype() == DType::f32 &&
                     exact.shape() == rounded.shape();
  if (!alike) return false;
  const auto a = exact.as<float>();
  const auto b = rounded.as<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    signal += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    noise += error * error;
  }
  has_values = has_values || !a.empty();
  return true;
}

void LayerLoss::add_errors(const Tensor& exact, const Tensor& rounded, std::size_t channel) {
  if (exact.size() == 0) return;
  const auto channels = static_cast<std::size_t>(exact.shape()[channel]);
  std::size_t inner = 1;
  for (std::size_t d = channel + 1; d < exact.shape().size(); ++d) {
    inner *= static_cast<std::size_t>(exact.shape()[d]);
  }
  errors.resize(channels, 0.0);
  const auto a = exact.as<float>();
  const auto b = rounded.as<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    errors[i / inner % channels] += static_cast<double>(a[i]) - static_cast<double>(b[i]);
  }
  count += exact.size() / static_cast<std::int64_t>(channels);
}

double LayerLoss::mean_error(std::size_t channel) const {
  return count > 0 ? errors[channel] / static_cast<double>(count) : 0.0;
}

double LayerLoss::decibels() const {
  if (!has_values) return std::numeric_limits<double>::quiet_NaN();
  return noise > 0.0 ? 10.0 * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
}

}  // namespace morton::api
