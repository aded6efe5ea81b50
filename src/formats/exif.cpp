// SPDX-License-Identifier: Apache-2.0
#include "formats/exif.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace morton::formats {
namespace {

constexpr int kUpright = 1;

/// Numbers of `size` bytes at a place of untrusted text; nothing beyond its end.
struct Bytes {
  std::string_view text;
  bool little_endian = false;

  [[nodiscard]] std::optional<std::size_t> number(std::size_t at, std::size_t size) const {
    if (at > text.size() || text.size() - at < size) return std::nullopt;
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = little_endian ? at + size - 1 - i : at + i;
      value = value << 8U | static_cast<unsigned char>(text[place]);
    }
    return value;
  }
};

/// The EXIF data of a JPEG file, a TIFF file: those of its first APP1 segment of that name.
std::string_view exif_of(std::string_view jpeg) {
  constexpr std::string_view kName("Exif\0\0", 6);
  const Bytes bytes{jpeg};
  for (std::size_t at = 2; at < jpeg.size();) {
    if (jpeg.substr(at).starts_with("\xff\xff")) {
      ++at;  // any number of these bytes may stand before a marker
      continue;
    }
    const auto marker = bytes.number(at, 2);
    const auto length = bytes.number(at + 2, 2);
    // Behind the start of scan (0xffda) come pixels.
    if (!marker || !length || *marker >> 8U != 0xff || *marker == 0xffda || *length < 2) return {};
    const std::string_view segment = jpeg.substr(at + 4, *length - 2);
    if (*marker == 0xffe1 && segment.starts_with(kName)) return segment.substr(kName.size());
    at += 2 + *length;
  }
  return {};
}

/// The orientation that the first directory of a TIFF file has.
std::optional<std::size_t> orientation_in(std::string_view tiff) {
  constexpr std::size_t kOrientation = 0x0112;
  constexpr std::size_t kEntry = 12;
  constexpr std::size_t kLong = 4;  // the type of numbers of 4 bytes; others have 2
  const bool little_endian = tiff.starts_with("II");
  if (!little_endian && !tiff.starts_with("MM")) return std::nullopt;
  const Bytes bytes{tiff, little_endian};
  const auto directory = bytes.number(4, 4);
  const auto count = directory ? bytes.number(*directory, 2) : std::nullopt;
  for (std::size_t i = 0; i < count.value_or(0); ++i) {
    const std::size_t entry = *directory + 2 + i * kEntry;
    const auto tag = bytes.number(entry, 2);
    if (!tag) return std::nullopt;
    if (*tag != kOrientation) continue;
    return bytes.number(entry + 8, bytes.number(entry + 2, 2) == kLong ? 4 : 2);
  }
  return std::nullopt;
}

}  // namespace

int exif_orientation(std::string_view jpeg) {
  const std::size_t found = orientation_in(exif_of(jpeg)).value_or(kUpright);
  return found >= 1 && found <= 8 ? static_cast<int>(found) : kUpright;
}

Tensor upright(const Tensor& picture, int orientation) {
  if (orientation == kUpright) return picture;
  // From 5 on the file's rows are columns of the upright picture.
  const bool transposes = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const Shape& shape = picture.shape();
  const std::int64_t height = transposes ? shape[1] : shape[0];
  const std::int64_t width = transposes ? shape[0] : shape[1];
  Tensor result = Tensor::allocate(DType::u8, {height, width, shape[2]});
  const std::uint8_t* const from = picture.as<std::uint8_t>().data();
  std::uint8_t* to = result.as_mutable<std::uint8_t>().data();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t up = from_below ? height - 1 - y : y;
      const std::int64_t left = from_right ? width - 1 - x : x;
      const std::int64_t pixel = transposes ? left * shape[1] + up : up * shape[1] + left;
      to = std::copy_n(from + pixel * shape[2], shape[2], to);
    }
  }
  return result;
}

}  // namespace morton::formats
