// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/arrays/idx.hpp"
#include "formats/arrays/tensor_file.hpp"
#include "formats/image.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;

const std::filesystem::path kImageSource = MORTON_SOURCE_DIR;

Tensor pixels(const Shape& shape, int step) {
  Tensor image = Tensor::allocate(DType::u8, shape);
  for (std::int64_t i = 0; i < image.size(); ++i) image.set(i, static_cast<double>(i * step % 256));
  return image;
}

std::string to_png(const Tensor& image) {
  constexpr png_uint_32 kFormats[] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                      PNG_FORMAT_RGBA};
  png_image info{};
  info.version = PNG_IMAGE_VERSION;
  info.height = static_cast<png_uint_32>(image.shape()[0]);
  info.width = static_cast<png_uint_32>(image.shape()[1]);
  info.format = kFormats[image.shape()[2]];
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&info, nullptr, &size, 0, image.data(), 0, nullptr);
  std::string bytes(size, '\0');
  png_image_write_to_memory(&info, bytes.data(), &size, 0, image.data(), 0, nullptr);
  bytes.resize(size);
  return bytes;
}

/// Grey or RGB; `flags` may ask for a progressive file.
std::string to_jpeg(const Tensor& image, int flags = 0) {
  const tjhandle encoder = tjInitCompress();
  unsigned char* packed = nullptr;
  unsigned long size = 0;
  const bool grey = image.shape()[2] == 1;
  constexpr int kQuality = 95;
  tjCompress2(encoder, reinterpret_cast<const unsigned char*>(image.data()),
              static_cast<int>(image.shape()[1]), 0, static_cast<int>(image.shape()[0]),
              grey ? TJPF_GRAY : TJPF_RGB, &packed, &size, grey ? TJSAMP_GRAY : TJSAMP_420,
              kQuality, flags);
  std::string bytes(reinterpret_cast<const char*>(packed), size);
  tjFree(packed);
  tjDestroy(encoder);
  return bytes;
}

void expect_same_pixels(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a.at(i), b.at(i)) << i;
}

TEST(Image, PngOfEveryKind) {
  for (std::int64_t channels = 1; channels <= 4; ++channels) {
    const Tensor image = pixels({17, 3, channels}, 37);
    expect_same_pixels(decode_image(to_png(image), "memory"), image);
  }
}

TEST(Image, Jpeg) {
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    for (const std::int64_t channels : {1, 3}) {
      Tensor flat = Tensor::allocate(DType::u8, {17, 9, channels});
      for (std::int64_t i = 0; i < flat.size(); ++i) {
        flat.set(i, static_cast<double>(40 + 60 * (i % channels)));
      }
      const Tensor back = decode_image(to_jpeg(flat, flags), "memory");
      ASSERT_EQ(back.shape(), flat.shape());
      for (std::int64_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back.at(i), flat.at(i), 3);
    }
  }
}

TEST(Image, DigitsAreThoseOfTheDataSet) {
  const Tensor digits = read_idx(kImageSource / "data/mnist/t10k-images-idx3-ubyte.gz");
  const Tensor labels = read_idx(kImageSource / "data/mnist/t10k-labels-idx1-ubyte.gz");
  std::int64_t first = 0;
  while (labels.at(first) != 7) ++first;
  const Tensor image = read_tensor(kImageSource / "examples/data/digit_7.png");
  ASSERT_EQ(image.shape(), (Shape{28, 28, 1}));
  for (std::int64_t i = 0; i < image.size(); ++i) {
    ASSERT_EQ(image.at(i), digits.at(first * image.size() + i)) << i;
  }
}

TEST(Image, SmallerPicturesStandInTheCentre) {
  const Tensor image = pixels({2, 3, 1}, 51);  // 0 51 102 / 153 204 255
  const Tensor input = image_to_input(image, {1, 1, 5, 5});
  EXPECT_EQ(input.dtype(), DType::f32);
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 5; ++x) {
      const bool inside = y >= 1 && y < 3 && x >= 1 && x < 4;
      const double expected = inside ? static_cast<double>((y - 1) * 3 + x - 1) / 5 : 0.0;
      EXPECT_NEAR(input.at(y * 5 + x), expected, 1e-6) << y << " " << x;
    }
  }
  EXPECT_EQ(image_to_input(image, {1, 1, 2, 3}).at(5), 1.0);
}

TEST(Image, ChannelsAreConverted) {
  Tensor colour = Tensor::allocate(DType::u8, {1, 1, 3});
  colour.set(0, 255);
  colour.set(1, 51);
  const Tensor kept = image_to_input(colour, {1, 3, 1, 1});
  EXPECT_NEAR(kept.at(0), 1.0, 1e-6);
  EXPECT_NEAR(kept.at(1), 0.2, 1e-6);
  EXPECT_NEAR(kept.at(2), 0.0, 1e-6);
  EXPECT_NEAR(image_to_input(colour, {1, 1, 1, 1}).at(0), 0.299 + 0.587 * 0.2, 1e-6);

  Tensor veiled = Tensor::allocate(DType::u8, {1, 1, 2});
  veiled.set(0, 255);
  veiled.set(1, 51);
  const Tensor spread = image_to_input(veiled, {1, 3, 1, 1});
  for (std::int64_t c = 0; c < 3; ++c) EXPECT_NEAR(spread.at(c), 0.2, 1e-6);
}

TEST(Image, RefusesWhatDoesNotFit) {
  const Tensor image = pixels({4, 5, 1}, 1);
  EXPECT_THAT(message_of<UsageError>([&] {
                (void)image_to_input(image, {1, 1, 4, 4});
              }),
              HasSubstr("resize"));
  EXPECT_THROW((void)image_to_input(image, {1, 1, 3, 9}), UsageError);
  EXPECT_THROW((void)image_to_input(image, {2, 1, 9, 9}), UsageError);
  EXPECT_THROW((void)image_to_input(image, {1, 2, 9, 9}), UsageError);
  EXPECT_THROW((void)image_to_input(image, {9, 9}), UsageError);
  EXPECT_THROW((void)image_to_input(image.converted(DType::f32), {1, 1, 9, 9}), UsageError);
}

TEST(Image, LargePromisesAreRefused) {
  std::string jpeg = to_jpeg(pixels({8, 8, 1}, 3));
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg[frame + 5] = 0x3f;  // height and width of 16,136
  jpeg[frame + 7] = 0x3f;
  EXPECT_THROW((void)decode_image(jpeg, "x"), UnsupportedError);
  EXPECT_THROW((void)decode_image("GIF89a", "x"), ModelError);
}

TEST(ImageHostile, Png) {
  const std::string digit = bytes_of_file(kImageSource / "examples/data/digit_3.png");
  const auto read = [](const std::string& bytes) { (void)decode_image(bytes, "hostile"); };
  for (const std::string& bytes : {digit, to_png(pixels({9, 5, 4}, 11))}) {
    Hostility hostility(read);
    // The last 12 bytes are the end chunk, which holds no pixels.
    hostility.truncate(bytes.substr(0, bytes.size() - 12));
    EXPECT_EQ(hostility.accepted, 0);
    hostility.flip(bytes, 2000, bytes.size());
    EXPECT_GT(hostility.refused, 0);
  }
}

TEST(Image, JpegThatEndsBeforeItsSizeIsTold) {
  const std::string jpeg = to_jpeg(pixels({8, 8, 1}, 3));
  const std::string head = jpeg.substr(0, jpeg.find("\xff\xc0"));
  try {
    (void)decode_image(head, "x.jpg");
    FAIL() << "it was read";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("x.jpg: a damaged JPEG: "));
  }
}

TEST(ImageHostile, Jpeg) {
  const auto read = [](const std::string& bytes) { (void)decode_image(bytes, "hostile"); };
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    const std::string bytes = to_jpeg(pixels({17, 9, 3}, 5), flags);
    Hostility hostility(read);
    // The last two bytes are the end marker, after which there is nothing to tell.
    hostility.truncate(bytes.substr(0, bytes.size() - 2));
    EXPECT_EQ(hostility.accepted, 0);
    hostility.flip(bytes, 2000, bytes.size());
    EXPECT_GT(hostility.refused, 0);
  }
}

}  // namespace
}  // namespace morton::test
