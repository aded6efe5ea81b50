// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// How a JPEG file's EXIF data say that its picture lies: 1 (upright) to 8, tag 0x0112 of EXIF 2.3.
/// 1 where they say nothing, or what EXIF does not know.
[[nodiscard]] int exif_orientation(std::string_view jpeg);

/// A picture, u8 [H, W, C], turned and mirrored from that orientation to upright.
[[nodiscard]] Tensor upright(const Tensor& picture, int orientation);

}  // namespace morton::formats
