// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "morton/dataset.hpp"
#include "training/data/augmentation.hpp"
#include "training/data/example_writer.hpp"

namespace morton::training {

/// How batches are drawn from a data set.
struct BatchOptions {
  std::uint64_t seed = 1;
  Augmentation augmentation;
  Normalization normalization;
  /// Of several processes each draws its rows of a batch: those from `first` on.
  struct Part {
    std::int64_t batch = 0;  ///< rows of all; 0: this process draws the whole batch
    std::int64_t first = 0;
  } part;
};

/// Where the drawing of batches stands. With the seed, all of its state.
struct BatchPlace {
  std::uint32_t epoch = 0;
  std::int64_t batch = 0;  ///< the next one of the epoch

  bool operator==(const BatchPlace&) const = default;
};

/// Batches of examples in an order that is random and anew in each epoch. Order and changes of
/// pictures follow from (seed, epoch, batch) alone, by integers only: they are the same on every
/// platform, and whoever moves to a place goes on as if never stopped.
class Batches {
 public:
  /// `input` is the shape of the network's input; its first extent is the batch, or the rows of it
  /// that are drawn here. Throws UsageError where the examples do not fit it, or are fewer than a
  /// batch.
  Batches(Dataset data, const Shape& input, BatchOptions options);

  [[nodiscard]] std::int64_t batch_size() const { return batch_; }  ///< of all processes
  /// Batches of an epoch: only full ones.
  [[nodiscard]] std::int64_t per_epoch() const { return per_epoch_; }
  /// Examples that an epoch leaves out, others each time.
  [[nodiscard]] std::int64_t left_over() const { return data().size() - per_epoch_ * batch_; }
  [[nodiscard]] const Dataset& data() const { return writer_.data(); }

  /// The place of the next batch; at an epoch's end already that of the next epoch.
  [[nodiscard]] BatchPlace place() const { return place_; }
  /// Throws ModelError for a batch that an epoch does not have.
  void move_to(const BatchPlace& place);

  /// Fills `inputs` (f32, the constructor's shape) and `targets` (as ExampleWriter has them) with
  /// the next batch and moves on.
  void next(Tensor& inputs, Tensor& targets);

 private:
  ExampleWriter writer_;
  BatchOptions options_;
  std::int64_t rows_ = 0;  ///< of a batch, drawn here
  std::int64_t batch_ = 0, per_epoch_ = 0;
  BatchPlace place_;
  std::vector<std::uint32_t> order_;  ///< of the epoch of `place_`, once it is needed
};

/// Examples `first` to `first` + the batch - 1 in their order, seen through the middle window;
/// returns how many there are. Rows beyond the last example are zero (with label 0).
std::int64_t fill_in_order(const ExampleWriter& writer, std::int64_t first, Tensor& inputs,
                           Tensor& targets);

}  // namespace morton::training
