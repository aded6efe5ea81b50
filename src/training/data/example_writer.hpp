// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "morton/dataset.hpp"
#include "training/data/augmentation.hpp"

namespace morton::training {

/// What is taken from each value and what the rest is divided by: nothing, one number for all
/// channels, or one for each. Levels of pictures are divided by 255 before.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> deviation;
};

/// Writes examples of a data set as a network's inputs and targets.
///
/// A picture goes to an input [N, C, H, W] or [N, H, W, C] of other extents as a window shows it
/// (`fit_pictures`). To inputs of other dimensions whatever has as many values goes as it lies.
class ExampleWriter {
 public:
  /// `input` is the shape of the network's input with its batch. Throws UsageError where the
  /// examples do not fit, ModelError where they are none.
  ExampleWriter(Dataset data, const Shape& input, const Normalization& normalization);

  [[nodiscard]] const Dataset& data() const { return data_; }
  /// Examples are pictures that windows apply to.
  [[nodiscard]] bool has_pictures() const { return picture_.height > 0; }
  [[nodiscard]] const Extent2d& picture() const { return picture_; }
  /// Height and width of the network's input.
  [[nodiscard]] const Extent2d& input() const { return input_; }

  /// Writes example `example` to row `row` of `inputs`, f32 of the constructor's shape.
  void write_input(std::int64_t example, const PictureWindow& window, std::int64_t row,
                   Tensor& inputs) const;
  /// Writes what the network shall say to row `row` of `targets`: labels to i32 [N], as
  /// ones among zeros to f32 [N, classes], or 0 and 1 as they are to f32 of one value each; values
  /// to f32 [N, ...]. Throws UsageError for others.
  void write_target(std::int64_t example, std::int64_t row, Tensor& targets) const;

 private:
  void settle_normalization(const Normalization& normalization);
  [[nodiscard]] float normalized(std::size_t channel, float value) const;
  template <typename Element, typename Value>
  void write_picture(const Element* from, const PictureWindow& window, const Value& value,
                     float* to) const;

  Dataset data_;
  Shape shape_;
  std::size_t channels_ = 1;                                     ///< of the examples
  std::size_t input_channels_ = 1;                               ///< of the network's input
  PictureFit::Order order_ = PictureFit::Order::channels_first;  ///< of the input's pictures
  std::size_t example_size_ = 1, input_size_ = 1;
  Extent2d picture_{}, input_{};
  std::vector<float> mean_, deviation_;               ///< for each channel
  std::vector<std::array<float, 256>> level_values_;  ///< likewise, where there are levels
};

}  // namespace morton::training
