// SPDX-License-Identifier: Apache-2.0
#include "training/data/augmentation.hpp"

#include "base/error.hpp"
#include "training/data/option_text.hpp"

namespace morton::training {
namespace {

constexpr const char* kAugmentation = "augmentation";
/// Beyond that, numbers of pixels are mistakes.
constexpr std::int64_t kMostPixels = 1 << 14;

constexpr std::int64_t kMostDegrees = 180;
constexpr std::int64_t kMostHundredths = 90;

/// The part's number, from 0 to `most`, which `unit` follows in messages.
std::int64_t number_of(const OptionPart& part, std::int64_t most, const char* unit) {
  const std::int64_t number = whole_of(kAugmentation, part, 0);
  if (number > most) {
    throw UsageError(setting(kAugmentation) + ": " + part.name + ": expected at most " +
                     std::to_string(most) + " " + unit + ", got " + part.value);
  }
  return number;
}

/// First row or column of a window of `input` in the middle of `picture`.
std::int64_t middle(std::int64_t picture, std::int64_t input) {
  return input >= picture ? -((input - picture) / 2) : (picture - input) / 2;
}

/// One of -`reach` to `reach`.
std::int64_t around_zero(std::int64_t reach, std::uint32_t random) {
  return static_cast<std::int64_t>(below(static_cast<std::uint64_t>(2 * reach + 1), random)) -
         reach;
}

/// The turn that an augmentation makes of two random numbers.
Turn random_turn(const Augmentation& augmentation, std::uint32_t angle, std::uint32_t size) {
  const Fixed16 degrees = around_zero(augmentation.rotate * kFixedOne, angle);
  const Fixed16 reach = augmentation.scale * kFixedOne / 100;
  return turn_of(degrees, kFixedOne + around_zero(reach, size));
}

/// First row or column of a window anywhere in `picture` and a margin around it.
std::int64_t anywhere(std::int64_t picture, std::int64_t margin, std::int64_t input,
                      std::uint32_t random) {
  const std::int64_t places = picture + 2 * margin - input + 1;
  if (places < 1) {
    throw UsageError(setting(kAugmentation) + ": crop: a picture of " + std::to_string(picture) +
                     " pixels with a margin of " + std::to_string(margin) +
                     " is smaller than the network's input, " + std::to_string(input) +
                     "; a crop of " + std::to_string((input - picture + 1) / 2) + " is enough");
  }
  return static_cast<std::int64_t>(below(static_cast<std::uint64_t>(places), random)) - margin;
}

}  // namespace

Augmentation parse_augmentation(const std::string& text) {
  Augmentation result;
  if (text == "none") return result;
  for (const OptionPart& part : option_parts(kAugmentation, text)) {
    if (part.name == "shift") {
      result.shift = number_of(part, kMostPixels, "pixels");
    } else if (part.name == "crop") {
      result.crop = number_of(part, kMostPixels, "pixels");
    } else if (part.name == "rotate") {
      result.rotate = number_of(part, kMostDegrees, "degrees");
    } else if (part.name == "scale") {
      result.scale = number_of(part, kMostHundredths, "per cent");
    } else if (part.name == "flip" && part.value.empty()) {
      result.flip = Flip::horizontal;
    } else {
      throw UsageError(setting(kAugmentation) +
                       ": expected some of shift=PIXELS, flip, crop=MARGIN, rotate=DEGREES and " +
                       "scale=PERCENT with commas between them, or none; got '" + text + "'");
    }
  }
  return result;
}

std::string to_string(const Augmentation& augmentation) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  if (augmentation.shift > 0) add("shift=" + std::to_string(augmentation.shift));
  if (augmentation.flip == Flip::horizontal) add("flip");
  if (augmentation.crop) add("crop=" + std::to_string(*augmentation.crop));
  if (augmentation.rotate > 0) add("rotate=" + std::to_string(augmentation.rotate));
  if (augmentation.scale > 0) add("scale=" + std::to_string(augmentation.scale));
  return text.empty() ? "none" : text;
}

PictureWindow middle_window(const Extent2d& picture, const Extent2d& input) {
  return {middle(picture.height, input.height), middle(picture.width, input.width), Flip::none, {}};
}

PictureWindow random_window(const Augmentation& augmentation, const Extent2d& picture,
                            const Extent2d& input, const CounterGenerator& generator,
                            std::uint64_t index) {
  // Each example has two places of the generator.
  constexpr std::uint64_t kPlaces = 2;
  const auto first = generator.bits(index * kPlaces);
  PictureWindow window = middle_window(picture, input);
  if (augmentation.crop) {
    window.top = anywhere(picture.height, *augmentation.crop, input.height, first[0]);
    window.left = anywhere(picture.width, *augmentation.crop, input.width, first[1]);
  }
  const auto second = generator.bits(index * kPlaces + 1);
  if (augmentation.shift > 0) {
    window.top += around_zero(augmentation.shift, second[0]);
    window.left += around_zero(augmentation.shift, second[1]);
  }
  if (augmentation.rotate > 0 || augmentation.scale > 0) {
    window.turn = random_turn(augmentation, second[2], second[3]);
  }
  if (augmentation.flip == Flip::horizontal && (first[2] >> 31) != 0) {
    window.flip = Flip::horizontal;
  }
  return window;
}

}  // namespace morton::training
