// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"

namespace morton::training {

/// A place or a factor in units of 1 / 65536.
using Fixed16 = std::int64_t;
constexpr Fixed16 kFixedOne = 65536;

/// Where an enlarged and turned picture is looked at: what is (x, y) away from the middle comes
/// from (xx * x + xy * y, yx * x + yy * y) of the picture as it was.
struct Turn {
  Fixed16 xx = kFixedOne, xy = 0, yx = 0, yy = kFixedOne;

  bool operator==(const Turn&) const = default;
};

/// Sine and cosine of `degrees` (from -180 to 180), in units of 2^-30, by integers only: the same
/// on every platform, and within 4 units of the right ones.
[[nodiscard]] std::int64_t sine_of(Fixed16 degrees);
[[nodiscard]] std::int64_t cosine_of(Fixed16 degrees);

/// Of a picture that is turned clockwise by `degrees`, as rows count downwards, and `factor` times
/// as large (above 0).
[[nodiscard]] Turn turn_of(Fixed16 degrees, Fixed16 factor);

}  // namespace morton::training
