// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "morton/files.hpp"  // declares image_to_input
#include "morton/load.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// The picture in a PNG (by libpng) or JPEG file (by libjpeg-turbo): u8 [height, width, channels]
/// with 1 channel (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (and alpha). What kind of file
/// it is follows from its first bytes. A JPEG is turned as its EXIF orientation says. Throws
/// ModelError for a damaged one, UnsupportedError for another kind, for pictures that are far
/// larger than their files, and for those of more pixels than the limit.
[[nodiscard]] Tensor read_image(const std::filesystem::path& path, const LoadLimits& limits = {});
/// As above, from memory; `where` names the picture in messages.
[[nodiscard]] Tensor decode_image(std::string_view bytes, const std::string& where,
                                  const LoadLimits& limits = {});

}  // namespace morton::formats
