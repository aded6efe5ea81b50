// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/tensor_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"

namespace morton::api {
namespace {

/// Whether the tensor has a row of two classes or more for each example.
bool has_classes(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  return is_real(tensor.dtype()) && shape.size() >= 2 && shape[0] > 0 && shape[1] >= 2 &&
         element_count(shape) == shape[0] * shape[1];
}

bool is_finite_row(const Tensor& tensor, std::int64_t row) {
  const std::int64_t classes = tensor.shape()[1];
  for (std::int64_t c = 0; c < classes; ++c) {
    if (!std::isfinite(tensor.at(row * classes + c))) return false;
  }
  return true;
}

/// Where the first of the row's greatest elements is.
std::int64_t place_of_greatest(const Tensor& tensor, std::int64_t row) {
  const std::int64_t classes = tensor.shape()[1];
  std::int64_t greatest = 0;
  for (std::int64_t c = 1; c < classes; ++c) {
    if (tensor.at(row * classes + c) > tensor.at(row * classes + greatest)) greatest = c;
  }
  return greatest;
}

}  // namespace

void TensorComparison::add(const Tensor& first, const Tensor& second) {
  found_.shape = first.shape();
  found_.elements += first.size();
  for (std::int64_t i = 0; i < first.size(); ++i) {
    const double exact = first.at(i);
    const double other = second.at(i);
    if (!std::isfinite(exact) || !std::isfinite(other)) {
      const bool alike = exact == other || (std::isnan(exact) && std::isnan(other));
      found_.not_finite += alike ? 0 : 1;
      continue;
    }
    ++compared_;
    const double error = std::fabs(other - exact);
    found_.largest_error = std::max(found_.largest_error, error);
    errors_ += error;
    signal_ += exact * exact;
    noise_ += error * error;
  }
  if (rows_ == Rows::count && has_classes(first)) add_rows(first, second);
}

void TensorComparison::add_rows(const Tensor& first, const Tensor& second) {
  const std::int64_t rows = first.shape()[0];
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!is_finite_row(first, row) || !is_finite_row(second, row)) continue;
    ++found_.rows;
    found_.rows_alike += place_of_greatest(first, row) == place_of_greatest(second, row) ? 1 : 0;
  }
}

TensorDifference TensorComparison::result() const {
  TensorDifference result = found_;
  if (compared_ == 0) {
    result.signal_to_noise_db = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.mean_error = errors_ / static_cast<double>(compared_);
  result.signal_to_noise_db =
      noise_ > 0.0 ? 10.0 * std::log10(signal_ / noise_) : std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace morton::api
