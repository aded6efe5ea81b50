// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/pictures.hpp"

namespace morton::formats {

/// The longest side that a picture may have, in pixels.
inline constexpr std::int64_t kMaxPictureSide = 16384;

/// A picture, u8 [H, W, C], of another size: rows first, then columns, each rounded to whole
/// levels, with weights of 22 bits. That is Pillow's arithmetic (its Resample.c), so that networks
/// see the levels with which they were trained.
[[nodiscard]] Tensor resize_picture(const Tensor& picture, const PictureSize& size,
                                    PicturePreparation::Filter filter);

}  // namespace morton::formats
