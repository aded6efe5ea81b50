// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "morton/tensor.hpp"

namespace morton {

/// The picture in a PNG (by libpng) or JPEG file (by libjpeg-turbo): u8 [height, width, channels]
/// with 1 channel (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (and alpha). What kind of file
/// it is follows from its first bytes. Throws ModelError for a damaged one, UnsupportedError for
/// another kind and for pictures that are far larger than their files.
[[nodiscard]] Tensor read_image(const std::filesystem::path& path);
/// As above, from memory; `where` names the picture in messages.
[[nodiscard]] Tensor decode_image(std::string_view bytes, const std::string& where);

/// A picture (u8 [height, width, channels]) as the input of a network: f32 of the shape `nchw` =
/// [1, 1 or 3, H, W] with values from 0 (black) to 1. Colours become grey by 0.299 R + 0.587 G +
/// 0.114 B, grey becomes three equal channels, what is transparent shows black. A smaller picture
/// stands in the centre (of an odd remainder, the larger half is below and to the right) with zeros
/// around it, as LeNet-5 wants its 28x28 digits in 32x32. Throws UsageError for a larger picture
/// and for other shapes.
[[nodiscard]] Tensor image_to_input(const Tensor& image, const Shape& nchw);

}  // namespace morton
