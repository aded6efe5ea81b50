// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/numbers/counter_generator.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "training/data/turn.hpp"

namespace morton::training {

enum class Flip : std::uint8_t { none, horizontal };

/// How pictures change at random, anew in each epoch.
struct Augmentation {
  std::int64_t shift = 0;  ///< by up to so many pixels, each direction for itself
  Flip flip = Flip::none;  ///< horizontal: every other picture is seen in a mirror
  /// A window of the network's size, anywhere in the picture and a margin of so many pixels;
  /// nothing: the window is in the middle.
  std::optional<std::int64_t> crop;
  std::int64_t rotate = 0;  ///< by up to so many degrees either way
  std::int64_t scale = 0;   ///< larger or smaller by up to so many hundredths

  [[nodiscard]] bool changes_nothing() const {
    return shift == 0 && flip == Flip::none && !crop.has_value() && rotate == 0 && scale == 0;
  }
};

/// "shift=2,flip,crop=4,rotate=15,scale=10", any of them; "none". Throws UsageError that names what
/// there is.
[[nodiscard]] Augmentation parse_augmentation(const std::string& text);
/// The same as text again.
using morton::to_string;
[[nodiscard]] std::string to_string(const Augmentation& augmentation);

/// The part of a picture that a network sees, as high and wide as its input: row `top` and column
/// `left` of the picture come first. What lies outside of the picture is black (level 0).
struct PictureWindow {
  std::int64_t top = 0;
  std::int64_t left = 0;
  Flip flip = Flip::none;
  /// Around the middle of the window. Where it changes anything, each pixel is mixed from the four
  /// of the picture that lie nearest to its place.
  Turn turn = {};
};

/// Height and width in pixels.
struct Extent2d {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// The window in the middle; a picture smaller than the input gets a black margin.
[[nodiscard]] PictureWindow middle_window(const Extent2d& picture, const Extent2d& input);

/// The window that `generator` gives example `index`. Throws UsageError where a crop's margin is
/// too small for the input.
[[nodiscard]] PictureWindow random_window(const Augmentation& augmentation, const Extent2d& picture,
                                          const Extent2d& input, const CounterGenerator& generator,
                                          std::uint64_t index);

}  // namespace morton::training
