// SPDX-License-Identifier: Apache-2.0
#include "training/data/batches.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "training/data/epoch_order.hpp"

namespace morton::training {

Batches::Batches(Dataset data, const Shape& input, BatchOptions options)
    : writer_(std::move(data), input, options.normalization),
      options_(std::move(options)),
      rows_(input[0]),
      batch_(options_.part.batch == 0 ? input[0] : options_.part.batch),
      per_epoch_(writer_.data().size() / batch_) {
  if (per_epoch_ == 0) {
    throw UsageError(this->data().where + ": " + std::to_string(this->data().size()) +
                     " examples for training are fewer than a batch of " + std::to_string(batch_) +
                     "; " + setting("batch", std::to_string(this->data().size())) + " takes all");
  }
  const Augmentation& augmentation = options_.augmentation;
  if (augmentation.changes_nothing()) return;
  if (!writer_.has_pictures()) {
    throw UsageError(this->data().where + ": augmentation (" + to_string(augmentation) +
                     ") is for pictures [N, C, H, W], and these examples are none");
  }
  // Fails now rather than at the first batch.
  (void)random_window(augmentation, writer_.picture(), writer_.input(),
                      CounterGenerator(options_.seed, 0, 0), 0);
}

void Batches::move_to(const BatchPlace& place) {
  if (place.batch < 0 || place.batch >= per_epoch_) {
    throw ModelError(data().where + ": an epoch has " + std::to_string(per_epoch_) +
                     " batches of " + std::to_string(batch_) + ", so none can go on at batch " +
                     std::to_string(place.batch) + "; were data and batch others before?");
  }
  if (place.epoch != place_.epoch) order_.clear();
  place_ = place;
}

void Batches::next(Tensor& inputs, Tensor& targets) {
  if (order_.empty()) {
    order_ = random_order(data().size(), options_.seed, RandomStream::order, place_.epoch);
  }
  const CounterGenerator generator(
      options_.seed, static_cast<std::uint32_t>(RandomStream::augmentation), place_.epoch);
  const PictureWindow middle = middle_window(writer_.picture(), writer_.input());
  const bool as_is = options_.augmentation.changes_nothing();
  const std::int64_t first = place_.batch * batch_ + options_.part.first;
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::uint32_t example = order_[static_cast<std::size_t>(first + row)];
    const PictureWindow window = as_is ? middle
                                       : random_window(options_.augmentation, writer_.picture(),
                                                       writer_.input(), generator, example);
    writer_.write_input(example, window, row, inputs);
    writer_.write_target(example, row, targets);
  }
  if (++place_.batch < per_epoch_) return;
  place_ = {place_.epoch + 1, 0};
  order_.clear();
}

std::int64_t fill_in_order(const ExampleWriter& writer, std::int64_t first, Tensor& inputs,
                           Tensor& targets) {
  const std::int64_t count =
      std::clamp<std::int64_t>(writer.data().size() - first, 0, inputs.shape()[0]);
  std::memset(inputs.mutable_data(), 0, inputs.bytes());
  std::memset(targets.mutable_data(), 0, targets.bytes());
  const PictureWindow middle = middle_window(writer.picture(), writer.input());
  for (std::int64_t row = 0; row < count; ++row) {
    writer.write_input(first + row, middle, row, inputs);
    writer.write_target(first + row, row, targets);
  }
  return count;
}

}  // namespace morton::training
