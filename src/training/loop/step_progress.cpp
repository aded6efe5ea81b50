// SPDX-License-Identifier: Apache-2.0
#include "training/loop/step_progress.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/text/number_text.hpp"

namespace morton::training {
namespace {

/// The loss's scale doubles after so many updates without an overflow, up to 2^kLargestExponent.
constexpr std::int64_t kUpdatesBeforeGrowth = 2000;
constexpr std::int64_t kLargestExponent = 24;

std::int64_t exponent_of(double scale) {
  int exponent = 0;
  const bool is_power = std::frexp(scale, &exponent) == 0.5;
  if (is_power && exponent >= 1 && exponent <= kLargestExponent + 1) return exponent - 1;
  throw UsageError("train: the loss's scale is " + exact_text(scale) +
                   ", expected a power of two from 1 to 2^" + std::to_string(kLargestExponent));
}

}  // namespace

StepProgress::StepProgress(const TrainerOptions& options, bool scales)
    : accumulate_(options.accumulate), scales_(scales) {
  if (accumulate_ < 1) {
    throw UsageError("train: gradients of " + std::to_string(accumulate_) +
                     " steps cannot be added up, expected 1 or more");
  }
  const std::int64_t exponent = exponent_of(options.loss_scale);
  if (scales_) exponent_ = exponent;
}

double StepProgress::loss_scale() const { return std::ldexp(1.0, static_cast<int>(exponent_)); }

BatchResult::Update StepProgress::count(bool overflowed) {
  using Update = BatchResult::Update;
  const bool applied = applies();
  ++steps_;
  if (!applied) return Update::awaited;
  if (!overflowed) {
    ++updates_;
    if (scales_ && ++since_scale_ >= kUpdatesBeforeGrowth) {
      exponent_ = std::min(exponent_ + 1, kLargestExponent);
      since_scale_ = 0;
    }
    return Update::applied;
  }
  if (exponent_ == 0) {
    throw ModelError("train: step " + std::to_string(steps_) +
                     ": gradients overflow in half precision although the loss is not scaled; a "
                     "lower learning rate helps, or precision f32");
  }
  --exponent_;
  since_scale_ = 0;
  return Update::overflowed;
}

Tensor StepProgress::saved() const {
  const std::int64_t numbers[] = {steps_, updates_, exponent_, since_scale_};
  return Tensor::from({4}, numbers);
}

void StepProgress::restore(const Tensor& saved) {
  bool good = saved.dtype() == DType::i64 && saved.shape() == Shape{4};
  for (const std::int64_t number :
       good ? saved.as<std::int64_t>() : std::span<const std::int64_t>{}) {
    good = good && number >= 0;
  }
  if (!good || saved.as<std::int64_t>()[1] > saved.as<std::int64_t>()[0] ||
      saved.as<std::int64_t>()[2] > (scales_ ? kLargestExponent : 0)) {
    throw UsageError("train: the state's numbers of steps and updates are damaged");
  }
  const auto numbers = saved.as<std::int64_t>();
  steps_ = numbers[0];
  updates_ = numbers[1];
  exponent_ = numbers[2];
  since_scale_ = numbers[3];
}

}  // namespace morton::training
