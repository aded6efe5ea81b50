// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "morton/files.hpp"
#include "morton/pictures.hpp"

namespace morton {
namespace {

constexpr double kFullLevel = 255.0;
constexpr std::size_t kMostChannels = 3;

/// Where an input's channels, rows and columns are among its extents.
struct PictureAxes {
  std::size_t channels = 0, rows = 0, columns = 0;
};

PictureAxes axes_of(const Shape& input) {
  const auto is_colour = [](std::int64_t extent) { return extent == 1 || extent == 3; };
  if (input.size() == 3 || input.size() == 4) {
    const std::size_t first = input.size() - 3;
    if (is_colour(input[first])) return {first, first + 1, first + 2};
    if (is_colour(input[first + 2])) return {first + 2, first, first + 1};
  }
  throw UsageError(
      "picture: one picture fits an input of the shape 1x1xHxW, 1x3xHxW, 1xHxWx1 or 1xHxWx3, or "
      "of one without the first extent, not " +
      to_string(input));
}

/// What a level becomes in one channel: (level / 255 * full - mean) / deviation.
struct LevelScale {
  double full = 1.0, mean = 0.0, deviation = 1.0;

  [[nodiscard]] double operator()(double level) const {
    return (level / kFullLevel * full - mean) / deviation;
  }
};

float number_for(const std::vector<float>& given, std::size_t channel, std::size_t channels,
                 const char* what) {
  if (given.size() != 1 && given.size() != channels) {
    throw UsageError(setting(what) + ": expected one number, or one for each of the " +
                     std::to_string(channels) + " channels of the input, got " +
                     std::to_string(given.size()));
  }
  const float number = given.size() == 1 ? given.front() : given[channel];
  if (!std::isfinite(number)) {
    throw UsageError(setting(what) + ": expected finite numbers, got " + std::to_string(number));
  }
  return number;
}

LevelScale scale_of(const PicturePreparation& preparation, std::size_t channel,
                    std::size_t channels) {
  const double mean =
      preparation.mean.empty() ? 0.0 : number_for(preparation.mean, channel, channels, "mean");
  const double deviation = preparation.deviation.empty()
                               ? 1.0
                               : number_for(preparation.deviation, channel, channels, "deviation");
  if (!(deviation > 0.0)) {
    throw UsageError(setting("deviation") + ": expected numbers above 0, got " +
                     std::to_string(deviation));
  }
  return {preparation.full, mean, deviation};
}

/// The level of a pixel in `channel` (of red, green, blue) of `wanted` (1 or 3).
double level_in(std::span<const std::uint8_t> pixel, std::size_t channel, std::size_t wanted) {
  const bool colour = pixel.size() >= kMostChannels;
  double level = pixel[colour ? channel : 0];
  if (colour && wanted == 1) level = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
  return pixel.size() % 2 == 0 ? level * pixel.back() / kFullLevel : level;
}

void check_type(DType type, const PicturePreparation& preparation) {
  const bool real = type == DType::f32 || type == DType::f16 || type == DType::f64;
  if (!real && type != DType::u8) {
    throw UsageError("picture: an input of " + std::string(name_of(type)) +
                     " takes no picture; expected f32, f16, f64 or u8");
  }
  if (!real && !(preparation.mean.empty() && preparation.deviation.empty())) {
    throw UsageError("picture: the input takes u8, levels as they are; leave out " +
                     setting("mean") + ", " + setting("deviation") + " and presets with them");
  }
}

void check_shape(const Shape& shape) {
  if (shape.size() == 4 && shape[0] >= 0 && shape[0] != 1) {
    throw UsageError("picture: one picture fits an input whose first extent is 1, not " +
                     to_string(shape));
  }
}

/// Writes the pixels, [H, W, C], to an input of these extents of type f32 or u8.
template <typename Value>
void write_levels(const Tensor& pixels, const PictureAxes& axes,
                  const PicturePreparation& preparation, Tensor& input) {
  const Shape& shape = input.shape();
  const auto wanted = static_cast<std::size_t>(shape[axes.channels]);
  const auto channels = static_cast<std::size_t>(pixels.shape()[2]);
  const auto count = static_cast<std::size_t>(pixels.shape()[0] * pixels.shape()[1]);
  const bool first = axes.channels < axes.rows;
  const std::span<const std::uint8_t> from = pixels.as<std::uint8_t>();
  const std::span<Value> to = input.as_mutable<Value>();
  for (std::size_t c = 0; c < wanted; ++c) {
    const bool turned = preparation.colours == PicturePreparation::Colours::bgr && wanted > 1;
    const std::size_t colour = turned ? wanted - 1 - c : c;
    const LevelScale scale = scale_of(preparation, c, wanted);
    for (std::size_t p = 0; p < count; ++p) {
      const double level = level_in(from.subspan(p * channels, channels), colour, wanted);
      Value& value = to[first ? c * count + p : p * wanted + c];
      if constexpr (std::is_same_v<Value, float>) {
        value = static_cast<float>(scale(level));
      } else {
        value = static_cast<std::uint8_t>(level + 0.5);
      }
    }
  }
}

}  // namespace

PictureSize picture_size_of(const Shape& input) {
  const PictureAxes axes = axes_of(input);
  return {std::max<std::int64_t>(input[axes.rows], 0),
          std::max<std::int64_t>(input[axes.columns], 0)};
}

Shape with_picture_size(Shape input, const PictureSize& size) {
  const PictureAxes axes = axes_of(input);
  input[axes.rows] = size.height;
  input[axes.columns] = size.width;
  return input;
}

std::int64_t picture_channels_of(const Shape& input) { return input[axes_of(input).channels]; }

Tensor picture_to_input(const Tensor& picture, DType type, const Shape& shape,
                        const PicturePreparation& preparation) {
  check_type(type, preparation);
  check_shape(shape);
  const PictureAxes axes = axes_of(shape);
  const Tensor pixels = resized_picture(picture, picture_size_of(shape), preparation);
  Shape extents = with_picture_size(shape, {pixels.shape()[0], pixels.shape()[1]});
  if (extents.size() == 4) extents[0] = 1;
  Tensor input = Tensor::allocate(type == DType::u8 ? type : DType::f32, extents);
  if (type == DType::u8) {
    write_levels<std::uint8_t>(pixels, axes, preparation, input);
    return input;
  }
  write_levels<float>(pixels, axes, preparation, input);
  return type == DType::f32 ? input : input.converted(type);
}

Tensor image_to_input(const Tensor& image, const Shape& shape) {
  return picture_to_input(image, DType::f32, shape);
}

}  // namespace morton
