// SPDX-License-Identifier: Apache-2.0
#include "training/data/example_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "formats/datasets/dataset_kinds.hpp"
#include "training/data/picture_fit.hpp"
#include "training/data/plane.hpp"

namespace morton::training {
namespace {

constexpr float kFullLevel = 255.0F;

std::size_t example_size(const Shape& shape) {
  return static_cast<std::size_t>(element_count(Shape(shape.begin() + 1, shape.end())));
}

}  // namespace

ExampleWriter::ExampleWriter(Dataset data, const Shape& input, const Normalization& normalization)
    : data_(std::move(data)), shape_(input) {
  require_examples(data_);
  const Shape& examples = data_.inputs.shape();
  if (shape_.empty() || shape_[0] < 1) {
    throw UsageError(data_.where + ": examples for an input of the shape " + to_string(shape_) +
                     "; expected a batch in front");
  }
  example_size_ = example_size(examples);
  input_size_ = example_size(shape_);
  if (examples.size() == 4) {
    channels_ = static_cast<std::size_t>(examples[1]);
    picture_ = {examples[2], examples[3]};
  }
  if (const std::optional<PictureFit> fit = fit_pictures(data_, shape_)) {
    picture_ = {fit->height, fit->width};
    order_ = fit->order;
    input_channels_ = static_cast<std::size_t>(fit->input_channels);
    input_ = {fit->input_height, fit->input_width};
  } else if (example_size_ == input_size_) {
    input_channels_ = channels_;
    input_ = picture_;
  } else {
    fail_to_fit(data_, shape_);
  }
  settle_normalization(normalization);
}

void ExampleWriter::settle_normalization(const Normalization& normalization) {
  const auto settle = [&](const std::vector<float>& given, float standard, const char* what) {
    if (given.empty()) return std::vector<float>(channels_, standard);
    if (given.size() == 1) return std::vector<float>(channels_, given[0]);
    if (given.size() == channels_) return given;
    throw UsageError(setting(what) + ": expected one number, or one for each of the " +
                     std::to_string(channels_) + " channels of " + data_.where + ", got " +
                     std::to_string(given.size()));
  };
  mean_ = settle(normalization.mean, 0.0F, "mean");
  deviation_ = settle(normalization.deviation, 1.0F, "deviation");
  for (const float mean : mean_) {
    if (!std::isfinite(mean)) {
      throw UsageError(setting("mean") + ": expected finite numbers, got " + std::to_string(mean));
    }
  }
  for (const float deviation : deviation_) {
    if (!(deviation > 0.0F) || !std::isfinite(deviation)) {
      throw UsageError(setting("deviation") + ": expected numbers above 0, got " +
                       std::to_string(deviation));
    }
  }
  if (data_.inputs.dtype() != DType::u8) return;
  level_values_.resize(channels_);
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t level = 0; level < level_values_[c].size(); ++level) {
      level_values_[c][level] = normalized(c, static_cast<float>(level) / kFullLevel);
    }
  }
}

float ExampleWriter::normalized(std::size_t channel, float value) const {
  return (value - mean_[channel]) / deviation_[channel];
}

template <typename Element, typename Value>
void ExampleWriter::write_picture(const Element* from, const PictureWindow& window,
                                  const Value& value, float* to) const {
  const auto pixels = static_cast<std::size_t>(picture_.height * picture_.width);
  const auto input_pixels = static_cast<std::size_t>(input_.height * input_.width);
  const bool channels_last = order_ == PictureFit::Order::channels_last;
  const std::size_t channel_step = channels_last ? 1 : input_pixels;
  const std::size_t pixel_step = channels_last ? input_channels_ : 1;
  for (std::size_t c = 0; c < input_channels_; ++c) {
    const std::size_t source = channels_ == 1 ? 0 : c;
    const Plane<Element> plane{from + source * pixels, picture_};
    float* pixel = to + c * channel_step;
    for (std::int64_t y = 0; y < input_.height; ++y) {
      for (std::int64_t x = 0; x < input_.width; ++x, pixel += pixel_step) {
        *pixel = value(source, seen(plane, window, input_, y, x));
      }
    }
  }
}

void ExampleWriter::write_input(std::int64_t example, const PictureWindow& window, std::int64_t row,
                                Tensor& inputs) const {
  if (inputs.shape() != shape_ || row < 0 || row >= shape_[0] || example < 0 ||
      example >= data_.size()) {
    throw UsageError(data_.where + ": example " + std::to_string(example) + " to row " +
                     std::to_string(row) + " of a tensor " + to_string(inputs.shape()) +
                     "; expected " + to_string(shape_) + " and fewer than " +
                     std::to_string(data_.size()));
  }
  float* to = inputs.as_mutable<float>().data() + static_cast<std::size_t>(row) * input_size_;
  const std::size_t first = static_cast<std::size_t>(example) * example_size_;
  const auto level_value = [this](std::size_t channel, std::uint8_t level) {
    return level_values_[channel][level];
  };
  const auto value = [this](std::size_t channel, float given) {
    return normalized(channel, given);
  };
  const bool levels = data_.inputs.dtype() == DType::u8;
  if (has_pictures() && levels) {
    write_picture(data_.inputs.as<std::uint8_t>().data() + first, window, level_value, to);
  } else if (has_pictures()) {
    write_picture(data_.inputs.as<float>().data() + first, window, value, to);
  } else if (levels) {
    const std::uint8_t* from = data_.inputs.as<std::uint8_t>().data() + first;
    for (std::size_t i = 0; i < example_size_; ++i) to[i] = level_value(0, from[i]);
  } else {
    const float* from = data_.inputs.as<float>().data() + first;
    for (std::size_t i = 0; i < example_size_; ++i) to[i] = value(0, from[i]);
  }
}

void ExampleWriter::write_target(std::int64_t example, std::int64_t row, Tensor& targets) const {
  const Shape& shape = targets.shape();
  const auto at = static_cast<std::size_t>(example);
  const auto to = static_cast<std::size_t>(row);
  const bool fits_row = !shape.empty() && row >= 0 && row < shape[0];
  if (fits_row && data_.has_labels()) {
    const std::int32_t label = data_.targets.as<std::int32_t>()[at];
    if (shape.size() == 1 && targets.dtype() == DType::i32) {
      targets.as_mutable<std::int32_t>()[to] = label;
      return;
    }
    if (targets.dtype() == DType::f32 && example_size(shape) == 1 && label <= 1) {
      targets.as_mutable<float>()[to] = static_cast<float>(label);
      return;
    }
    if (shape.size() == 2 && targets.dtype() == DType::f32 && shape[1] > 1 && label < shape[1]) {
      const auto classes = static_cast<std::size_t>(shape[1]);
      const std::span<float> ones = targets.as_mutable<float>().subspan(to * classes, classes);
      std::fill(ones.begin(), ones.end(), 0.0F);
      ones[static_cast<std::size_t>(label)] = 1.0F;
      return;
    }
  }
  if (fits_row && !data_.has_labels() && targets.dtype() == DType::f32 &&
      example_size(shape) == example_size(data_.targets.shape())) {
    const std::size_t bytes = example_size(shape) * sizeof(float);
    std::memcpy(targets.mutable_data() + to * bytes, data_.targets.data() + at * bytes, bytes);
    return;
  }
  throw UsageError(data_.where + ": the targets of the data are " +
                   std::string(name_of(data_.targets.dtype())) + " " +
                   to_string(data_.targets.shape()) + (data_.has_labels() ? " (labels)" : "") +
                   ", which do not fit row " + std::to_string(row) + " of " +
                   std::string(name_of(targets.dtype())) + " " + to_string(shape));
}

}  // namespace morton::training
