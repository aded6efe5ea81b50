// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"
#include "morton/trainer.hpp"

namespace morton::training {

/// Counts steps and updates, and follows the scale of a loss whose gradients may overflow
/// (TrainerOptions::accumulate, TrainerOptions::loss_scale).
class StepProgress {
 public:
  /// Throws UsageError for options out of range.
  StepProgress(const TrainerOptions& options, bool scales);

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t updates() const { return updates_; }
  [[nodiscard]] double loss_scale() const;
  /// Whether the next step is the first of those whose gradients are added up.
  [[nodiscard]] bool begins() const { return steps_ % accumulate_ == 0; }
  /// Whether the next step is the last of those whose gradients are added up.
  [[nodiscard]] bool applies() const { return (steps_ + 1) % accumulate_ == 0; }
  /// Counts a step, `overflowed` telling whether gradients were not finite. Throws ModelError where
  /// they were although the loss is not scaled up.
  BatchResult::Update count(bool overflowed);

  /// All that it knows: i64 [4].
  [[nodiscard]] Tensor saved() const;
  /// Takes that back; throws UsageError for what `saved` cannot have given.
  void restore(const Tensor& saved);

 private:
  std::int64_t accumulate_;
  bool scales_;
  std::int64_t steps_ = 0;
  std::int64_t updates_ = 0;      ///< steps that renewed the parameters
  std::int64_t exponent_ = 0;     ///< binary logarithm of the loss's scale
  std::int64_t since_scale_ = 0;  ///< updates since that changed
};

}  // namespace morton::training
