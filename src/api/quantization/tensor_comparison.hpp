// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/compare_models.hpp"

namespace morton::api {

/// Adds up how a tensor differs in two models, run by run.
class TensorComparison {
 public:
  /// Whether rows of classes are looked at: of outputs.
  enum class Rows : std::uint8_t { count, ignore };
  TensorComparison(std::string name, Rows rows) : rows_(rows) { found_.name = std::move(name); }

  /// Two tensors of one shape.
  void add(const Tensor& first, const Tensor& second);
  [[nodiscard]] TensorDifference result() const;

 private:
  void add_rows(const Tensor& first, const Tensor& second);

  Rows rows_;
  TensorDifference found_{};
  std::int64_t compared_ = 0;          ///< elements that are finite in both
  double errors_ = 0.0;                ///< their sum
  double signal_ = 0.0, noise_ = 0.0;  ///< sums of squares
};

}  // namespace morton::api
