// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "formats/picture_resize.hpp"
#include "morton/pictures.hpp"

namespace morton {
using namespace formats;
namespace {

using Resize = PicturePreparation::Resize;

/// Of torchvision's and timm's tests: pictures of 256, of which networks see 224.
constexpr double kResizedOverSeen = 256.0 / 224.0;

std::string size_text(const PictureSize& size) {
  return std::to_string(size.height) + "x" + std::to_string(size.width);
}

void check_picture(const Tensor& picture) {
  if (picture.dtype() != DType::u8 || picture.shape().size() != 3 || picture.shape()[2] < 1 ||
      picture.shape()[2] > 4) {
    throw UsageError("picture: expected u8 [height, width, 1 to 4 channels], got " +
                     std::string(name_of(picture.dtype())) + " " + to_string(picture.shape()));
  }
}

/// The size that a preparation aims at. Throws UsageError where it is not settled.
PictureSize settled(const PictureSize& given, const PictureSize& input, const char* what) {
  if (given.height > 0 && given.width > 0) return given;
  if (input.height > 0 && input.width > 0) return input;
  throw UsageError(setting(what) +
                   ": the model leaves the size of its pictures open; give a size to " +
                   setting("resize") + " and to " + setting("crop") +
                   ", as 256 and 224, or where there is that option " + setting("shapes"));
}

/// The longer side goes with the shorter one, rounded down as torchvision does.
PictureSize with_shorter_side(const PictureSize& picture, std::int64_t side) {
  if (picture.height <= picture.width) return {side, side * picture.width / picture.height};
  return {side * picture.height / picture.width, side};
}

PictureSize covering(const PictureSize& picture, const PictureSize& input) {
  if (picture.height * input.width <= picture.width * input.height) {
    return {input.height, picture.width * input.height / picture.height};
  }
  return {picture.height * input.width / picture.width, input.width};
}

PictureSize fitting(const PictureSize& picture, const PictureSize& input) {
  const double scale =
      std::min(static_cast<double>(input.height) / static_cast<double>(picture.height),
               static_cast<double>(input.width) / static_cast<double>(picture.width));
  const auto scaled = [&](std::int64_t side) {
    return std::max<std::int64_t>(std::llrint(static_cast<double>(side) * scale), 1);
  };
  return {scaled(picture.height), scaled(picture.width)};
}

/// Before sides are multiplied with each other, and behind.
void check_resized(const PictureSize& picture, const PictureSize& size) {
  if (size.height >= 1 && size.width >= 1 && size.height <= kMaxPictureSide &&
      size.width <= kMaxPictureSide) {
    return;
  }
  throw UsageError(setting("resize") + ": a picture of " + size_text(picture) +
                   " (height x width) would become " + size_text(size) +
                   "; each side must have 1 to " + std::to_string(kMaxPictureSide) + " pixels");
}

/// The size to which a picture is resized.
PictureSize resized_size(const PictureSize& picture, const PictureSize& input,
                         const PicturePreparation& preparation) {
  PictureSize size = picture;
  const PictureSize& given = preparation.resized;
  if (preparation.resize == Resize::shorter_side) {
    std::int64_t side = given.height;
    if (side == 0) {
      const PictureSize seen = settled({}, input, "resize");
      side = std::llrint(static_cast<double>(std::min(seen.height, seen.width)) * kResizedOverSeen);
    }
    check_resized(picture, {side, side});
    size = with_shorter_side(picture, side);
  } else if (preparation.resize != Resize::keep) {
    const PictureSize aim = settled(given, input, "resize");
    check_resized(picture, aim);
    size = aim;
    if (preparation.resize == Resize::fit) size = fitting(picture, aim);
    if (preparation.resize == Resize::cover) size = covering(picture, aim);
  }
  check_resized(picture, size);
  return size;
}

/// The size of the middle that is kept.
PictureSize kept_size(const PictureSize& resized, const PictureSize& input,
                      const PicturePreparation& preparation) {
  if (!preparation.crop) return resized;
  const PictureSize crop = settled(*preparation.crop, input, "crop");
  return {std::min(resized.height, crop.height), std::min(resized.width, crop.width)};
}

/// How far the middle lies from the edge: half a pixel goes to the even number, as in torchvision.
std::int64_t middle_offset(std::int64_t whole, std::int64_t kept) {
  return std::llrint(static_cast<double>(whole - kept) / 2.0);
}

/// Colours without alpha, laid on black.
Tensor on_black(const Tensor& picture) {
  const auto channels = static_cast<std::size_t>(picture.shape()[2]);
  if (channels % 2 != 0) return picture;
  Tensor opaque =
      Tensor::allocate(DType::u8, {picture.shape()[0], picture.shape()[1], picture.shape()[2] - 1});
  constexpr unsigned kFull = 255;
  const std::span<const std::uint8_t> from = picture.as<std::uint8_t>();
  const std::span<std::uint8_t> to = opaque.as_mutable<std::uint8_t>();
  for (std::size_t p = 0, at = 0; p < from.size(); p += channels) {
    const unsigned alpha = from[p + channels - 1];
    for (std::size_t c = 0; c + 1 < channels; ++c) {
      to[at++] = static_cast<std::uint8_t>((from[p + c] * alpha + kFull / 2) / kFull);
    }
  }
  return opaque;
}

/// The middle of a larger picture, or a smaller one on a border, side by side.
Tensor cut_or_framed(const Tensor& picture, const PictureSize& kept, const PictureSize& size,
                     std::uint8_t border) {
  const Shape& shape = picture.shape();
  if (shape[0] == size.height && shape[1] == size.width) return picture;
  const std::int64_t channels = shape[2];
  Tensor result = Tensor::allocate(DType::u8, {size.height, size.width, channels});
  std::ranges::fill(result.as_mutable<std::uint8_t>(), border);
  const std::int64_t from_top = middle_offset(shape[0], kept.height);
  const std::int64_t from_left = middle_offset(shape[1], kept.width);
  const std::int64_t to_top = (size.height - kept.height) / 2;
  const std::int64_t to_left = (size.width - kept.width) / 2;
  for (std::int64_t y = 0; y < kept.height; ++y) {
    std::memcpy(result.mutable_data() + ((to_top + y) * size.width + to_left) * channels,
                picture.data() + ((from_top + y) * shape[1] + from_left) * channels,
                static_cast<std::size_t>(kept.width * channels));
  }
  return result;
}

}  // namespace

PicturePlace place_of(const PictureSize& picture, const PictureSize& input,
                      const PicturePreparation& preparation) {
  const PictureSize resized = resized_size(picture, input, preparation);
  const PictureSize kept = kept_size(resized, input, preparation);
  PicturePlace place;
  place.size = {input.height > 0 ? input.height : kept.height,
                input.width > 0 ? input.width : kept.width};
  if (kept.height > place.size.height || kept.width > place.size.width) {
    throw UsageError(
        "picture: " + size_text(kept) + " (height x width) is larger than the input, " +
        size_text(place.size) + "; resize it: " + setting("preset", "imagenet") + ", " +
        setting("resize", "stretch") + ", or " + setting("crop", "input") + " for its middle");
  }
  const auto ratio = [](std::int64_t to, std::int64_t from) {
    return static_cast<double>(to) / static_cast<double>(from);
  };
  place.scale_y = ratio(resized.height, picture.height);
  place.scale_x = ratio(resized.width, picture.width);
  place.top = static_cast<double>((place.size.height - kept.height) / 2 -
                                  middle_offset(resized.height, kept.height));
  place.left = static_cast<double>((place.size.width - kept.width) / 2 -
                                   middle_offset(resized.width, kept.width));
  return place;
}

Tensor resized_picture(const Tensor& picture, const PictureSize& input,
                       const PicturePreparation& preparation) {
  check_picture(picture);
  const PictureSize own{picture.shape()[0], picture.shape()[1]};
  const PicturePlace place = place_of(own, input, preparation);
  const PictureSize resized = resized_size(own, input, preparation);
  const bool changes = resized != own || (preparation.border > 0 && place.size != own);
  const Tensor result =
      resize_picture(changes ? on_black(picture) : picture, resized, preparation.filter);
  return cut_or_framed(result, kept_size(resized, input, preparation), place.size,
                       preparation.border);
}

}  // namespace morton
