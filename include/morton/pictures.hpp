// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "morton/dtype.hpp"
#include "morton/export.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// In pixels; an extent of 0 is not settled.
struct PictureSize {
  std::int64_t height = 0, width = 0;

  [[nodiscard]] bool operator==(const PictureSize&) const = default;
};

/// What is done with a picture before a network sees it, in this order: it is resized, its middle
/// is cut out, what is missing beside the input's size becomes border, and then
/// value = (level / 255 * full - mean) / deviation.
struct MORTON_API PicturePreparation {
  /// Towards the input's size, or towards `resized`:
  ///  - keep: as it is;
  ///  - shorter_side: that side becomes `resized.height` pixels long (0: 256/224 of the input's
  ///    shorter side), the longer one follows, rounded down;
  ///  - stretch: both sides, whatever the proportions were;
  ///  - fit: the largest that has its proportions and lies within;
  ///  - cover: the smallest that has its proportions and covers it.
  enum class Resize : std::uint8_t {
    keep,
    shorter_side,
    stretch,
    fit,
    cover
  } resize = Resize::keep;
  PictureSize resized{};
  /// How levels between pixels are found. Both filters widen where a picture shrinks
  /// (antialiasing), in Pillow's arithmetic: the levels are Pillow's, bit for bit, where it resizes
  /// rows before columns.
  enum class Filter : std::uint8_t { bilinear, bicubic } filter = Filter::bilinear;
  /// The middle that is kept of a larger picture; {0, 0}: of the input's size. Nothing: all.
  std::optional<PictureSize> crop{};
  std::uint8_t border = 0;  ///< the level of what a smaller picture leaves free around it
  enum class Colours : std::uint8_t { rgb, bgr } colours = Colours::rgb;
  double full = 1.0;                     ///< what level 255 becomes: 1, or 255
  std::vector<float> mean{}, deviation;  ///< none, one, or one for each channel of the input
};

/// How published networks want their pictures, by name:
///  - imagenet: shorter side 256/224 of the input's, the middle of the input's size; 0 to 1, less
///    the means 0.485, 0.456, 0.406, over 0.229, 0.224, 0.225 (torchvision, timm);
///  - inception: the same cut, -1 to 1 (Inception, MobileNet and ResNet V2 of TensorFlow);
///  - unit: the same cut, 0 to 1;
///  - raw255: the same cut, 0 to 255;
///  - caffe: the same cut, blue first, 0 to 255 less 103.939, 116.779, 123.68 (VGG, ResNet of
///    Caffe and Keras);
///  - clip: the smallest that covers the input, bicubic, its middle; CLIP's means and deviations;
///  - yolo: all of it in its proportions, on a border of level 114; 0 to 1.
/// Throws UsageError for another name.
[[nodiscard]] MORTON_API PicturePreparation picture_preset(const std::string& name);
/// The names of the presets.
[[nodiscard]] MORTON_API std::vector<std::string> picture_presets();

/// Where a picture lies in what a network sees: x there = scale_x * x + left.
struct PicturePlace {
  PictureSize size;  ///< of what the network sees
  double scale_y = 1.0, scale_x = 1.0;
  double top = 0.0, left = 0.0;
};

/// Where a picture of this size comes to lie in an input, extents of which may be 0: then they are
/// what becomes of the picture. Throws UsageError where the picture would be larger than the input,
/// or larger than pictures may be.
[[nodiscard]] MORTON_API PicturePlace place_of(const PictureSize& picture, const PictureSize& input,
                                               const PicturePreparation& preparation);

/// The picture, u8 [H, W, C], resized, cropped and with its border: u8 [H', W', C'] as `place_of`
/// says. A transparent one that is resized or gets a border is laid on black before.
[[nodiscard]] MORTON_API Tensor resized_picture(const Tensor& picture, const PictureSize& input,
                                                const PicturePreparation& preparation);

/// The size of the pictures that an input [1, C, H, W], [1, H, W, C] or either without the first
/// extent takes, C 1 or 3; open extents (-1) are 0. Throws UsageError for other shapes.
[[nodiscard]] MORTON_API PictureSize picture_size_of(const Shape& input);

/// The shape with that size for its rows and columns; throws likewise.
[[nodiscard]] MORTON_API Shape with_picture_size(Shape input, const PictureSize& size);
/// 1 or 3, of such an input; throws likewise.
[[nodiscard]] MORTON_API std::int64_t picture_channels_of(const Shape& input);

/// A picture, u8 [H, W, C], as an input of that shape (`picture_size_of`), whose first extent is 1
/// where it has four, and of that type: f32, f16, f64, or u8 for levels as they are. Colours become
/// grey for one channel. Open extents of `shape` follow from the picture. Throws UsageError for
/// what does not fit.
[[nodiscard]] MORTON_API Tensor picture_to_input(const Tensor& picture, DType type,
                                                 const Shape& shape,
                                                 const PicturePreparation& preparation = {});

/// Writes a picture, u8 [H, W, C] with C 1 (grey) to 4 (colours and alpha), as PNG, atomically.
/// Throws UsageError.
MORTON_API void write_picture(const std::string& path, const Tensor& picture);

}  // namespace morton
