// SPDX-License-Identifier: Apache-2.0
#include "formats/image.hpp"

#include <png.h>
#include <turbojpeg.h>

#include <memory>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/shape.hpp"
#include "formats/exif.hpp"
#include "formats/expansion.hpp"
#include "formats/load_limits.hpp"
#include "formats/picture_resize.hpp"
#include "morton/pictures.hpp"

namespace morton {
using namespace formats;
namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 28;
/// A picture of one colour has 64 pixels for each byte with the usual Huffman tables; decoding
/// takes up to 9 bytes for a pixel.
constexpr std::int64_t kMostJpegPixelsPerByte = 80;
constexpr std::int64_t kFreeJpegPixels = std::int64_t{1} << 20;

[[noreturn]] void fail_image(const std::string& where, const std::string& what) {
  throw ModelError(where + ": " + what);
}

void check_sides(std::int64_t width, std::int64_t height, const LoadLimits& limits,
                 const std::string& where) {
  if (width > 0 && height > 0 && width <= kMaxPictureSide && height <= kMaxPictureSide) {
    if (width * height > limits.pixels) refuse_beyond("pixels", limits.pixels, "pixels", where);
    return;
  }
  throw UnsupportedError(where + ": a picture of " + std::to_string(width) + "x" +
                         std::to_string(height) + "; each side must have 1 to " +
                         std::to_string(kMaxPictureSide) + " pixels");
}

/// The file without what it says of gamma: libpng would turn levels into those of sRGB.
std::string without_gamma(std::string_view png) {
  constexpr std::size_t kSignature = 8;
  constexpr std::size_t kAround = 12;  // a chunk's length, name and checksum
  std::string kept(png.substr(0, kSignature));
  std::size_t at = kSignature;
  while (png.size() - at >= kAround) {
    std::size_t length = kAround;
    for (std::size_t i = 0; i < 4; ++i) {
      length += std::size_t{static_cast<unsigned char>(png[at + i])} << (24 - 8 * i);
    }
    const std::string_view chunk = png.substr(at, length);
    if (chunk.substr(4).starts_with("IDAT") || chunk.size() < length) break;
    if (!chunk.substr(4).starts_with("gAMA")) kept += chunk;
    at += length;
  }
  return kept += png.substr(at);
}

Tensor decode_png(std::string_view file, const LoadLimits& limits, const std::string& where) {
  std::string own;
  if (file.find("gAMA") != std::string_view::npos) own = without_gamma(file);
  const std::string_view bytes = own.empty() ? file : own;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  struct Release {
    png_image* image;
    ~Release() { png_image_free(image); }
  } const release{&image};
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    fail_image(where, std::string("a damaged PNG: ") + image.message);
  }
  check_sides(image.width, image.height, limits, where);
  // Values are taken as they stand; without this flag 16-bit ones would be read as linear light.
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  // Eight bits for each channel, palettes looked up, the channels that the file has.
  image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  const auto channels = static_cast<std::int64_t>(PNG_IMAGE_PIXEL_CHANNELS(image.format));
  const Shape shape{image.height, image.width, channels};
  check_expansion(where, element_count(shape), static_cast<std::int64_t>(bytes.size()));
  Tensor tensor = Tensor::allocate(DType::u8, shape);
  if (png_image_finish_read(&image, nullptr, tensor.mutable_data(), 0, nullptr) == 0 ||
      PNG_IMAGE_FAILED(image)) {
    fail_image(where, std::string("a damaged PNG: ") + image.message);
  }
  return tensor;
}

Tensor decode_jpeg(std::string_view bytes, const LoadLimits& limits, const std::string& where) {
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) fail_image(where, "cannot start the JPEG decoder");
  const auto damaged = [&] {
    fail_image(where, std::string("a damaged JPEG: ") + tjGetErrorStr2(decoder.get()));
  };
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height, &sampling,
                          &colours) != 0) {
    damaged();
  }
  if (width == 0 || height == 0)
    fail_image(where, "a damaged JPEG: it ends before its size is told");
  check_sides(width, height, limits, where);
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) {
    throw UnsupportedError(where + ": a JPEG in the colours of print (CMYK); save it as RGB");
  }
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels > kFreeJpegPixels &&
      pixels / kMostJpegPixelsPerByte > static_cast<std::int64_t>(bytes.size())) {
    throw UnsupportedError(where + ": a JPEG of " + std::to_string(pixels) + " pixels in " +
                           std::to_string(bytes.size()) + " bytes; save it as PNG");
  }
  const bool grey = colours == TJCS_GRAY;
  Tensor tensor = Tensor::allocate(DType::u8, {height, width, grey ? 1 : 3});
  // Without the first flag, what a file lacks would be filled up with grey.
  constexpr int kFlags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  auto* to = reinterpret_cast<unsigned char*>(tensor.mutable_data());
  if (tjDecompress2(decoder.get(), data, bytes.size(), to, width, 0, height,
                    grey ? TJPF_GRAY : TJPF_RGB, kFlags) != 0) {
    damaged();
  }
  return upright(tensor, exif_orientation(bytes));
}

}  // namespace

Tensor formats::read_image(const std::filesystem::path& path, const LoadLimits& limits) {
  return decode_image(read_file(path, kMaxFileBytes), path.string(), limits);
}

Tensor formats::decode_image(std::string_view bytes, const std::string& where,
                             const LoadLimits& limits) {
  if (static_cast<std::int64_t>(bytes.size()) > kMaxFileBytes) {
    throw UnsupportedError(where + ": a picture of more than " + std::to_string(kMaxFileBytes) +
                           " bytes");
  }
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(bytes, limits, where);
  if (bytes.starts_with("\xff\xd8\xff")) return decode_jpeg(bytes, limits, where);
  fail_image(where, "not a PNG or JPEG picture, or damaged in its first bytes");
}

void write_picture(const std::string& path, const Tensor& picture) {
  const Shape& shape = picture.shape();
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                      PNG_FORMAT_RGBA};
  const bool is_picture = picture.dtype() == DType::u8 && shape.size() == 3 && shape[2] >= 1 &&
                          shape[2] <= 4 && shape[0] > 0 && shape[1] > 0 &&
                          shape[0] <= kMaxPictureSide && shape[1] <= kMaxPictureSide;
  if (!is_picture) {
    throw UsageError(path + ": expected u8 [height, width, 1 to 4 channels] with sides of 1 to " +
                     std::to_string(kMaxPictureSide) + " pixels, got " +
                     std::string(name_of(picture.dtype())) + " " + to_string(shape));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(shape[0]);
  image.width = static_cast<png_uint_32>(shape[1]);
  image.format = kFormats[shape[2] - 1];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.data(), 0, nullptr) == 0) {
    throw UsageError(path + ": cannot be written as PNG: " + image.message);
  }
  write_file_atomically(path, std::string_view(bytes).substr(0, size));
}

}  // namespace morton
