// SPDX-License-Identifier: Apache-2.0
//
// Pictures as inputs, beside what Pillow and torchvision make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.hpp"
#include "formats/exif.hpp"
#include "formats/image.hpp"
#include "formats/picture_resize.hpp"
#include "host/formats_files.hpp"
#include "morton/dataset.hpp"
#include "morton/pictures.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using testing::HasSubstr;
using Resize = PicturePreparation::Resize;
using Filter = PicturePreparation::Filter;

/// Level i is (7 i^2 + 37 i) mod 251.
Tensor pattern(const Shape& shape) {
  Tensor picture = Tensor::allocate(DType::u8, shape);
  const std::span<std::uint8_t> levels = picture.as_mutable<std::uint8_t>();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = static_cast<std::uint8_t>((7 * i * i + 37 * i) % 251);
  }
  return picture;
}

// Of Pillow 13.0, in Python:
//   im = Image.fromarray(pattern); short = im.resize((int(8 * 31 / 23), 8), Image.BILINEAR)
//   kBilinear = short.crop((2, 0, 9, 7)); kBicubic = im.resize((5, 4), Image.BICUBIC)
// torchvision's CenterCrop rounds half a pixel to the even number: 1.5 to 2, 0.5 to 0.
constexpr std::uint8_t kBilinear[] = {
    112, 130, 103, 84,  110, 128, 75,  153, 137, 93,  120, 108, 127, 118, 142, 134, 159, 129, 137,
    148, 123, 124, 105, 99,  115, 138, 135, 142, 130, 130, 147, 123, 128, 132, 140, 129, 121, 115,
    114, 141, 96,  141, 120, 127, 141, 141, 130, 130, 119, 113, 122, 102, 140, 139, 98,  113, 122,
    118, 92,  119, 143, 88,  139, 140, 140, 101, 117, 122, 102, 92,  115, 130, 84,  143, 131, 105,
    123, 112, 137, 125, 136, 125, 153, 131, 146, 138, 84,  124, 107, 110, 122, 137, 139, 149, 131,
    125, 147, 126, 132, 123, 133, 130, 123, 102, 109, 132, 127, 155, 124, 131, 142, 137, 131, 124,
    107, 108, 126, 86,  143, 139, 93,  112, 117, 120, 99,  128, 106, 123, 103, 142, 142, 87,  116,
    117, 97,  97,  124, 132, 98,  135, 128, 117, 124, 115, 143, 133, 133};
constexpr std::uint8_t kBicubic[] = {130, 128, 97,  114, 125, 119, 115, 130, 128, 129, 129, 127,
                                     132, 112, 130, 129, 128, 122, 130, 127, 116, 105, 129, 130,
                                     119, 116, 124, 127, 118, 130, 121, 122, 110, 130, 128, 119,
                                     123, 127, 128, 111, 129, 126, 132, 104, 131, 129, 115, 131,
                                     128, 128, 97,  117, 124, 119, 124, 132, 129, 125, 123, 122};
constexpr std::uint8_t kEnlarged[] = {0,   4,   22,  40,  44,  15,  19,  39,  58, 63, 58,  64,
                                      88,  113, 118, 102, 109, 138, 167, 174, 62, 70, 104, 138,
                                      146, 22,  32,  70,  109, 118, 9,   19,  59, 99, 109};

void expect_levels(const Tensor& picture, const Shape& shape,
                   std::span<const std::uint8_t> expected) {
  ASSERT_EQ(picture.shape(), shape);
  const std::span<const std::uint8_t> levels = picture.as<std::uint8_t>();
  ASSERT_EQ(levels.size(), expected.size());
  for (std::size_t i = 0; i < levels.size(); ++i) ASSERT_EQ(levels[i], expected[i]) << i;
}

double sum_of(const Tensor& tensor) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) sum += tensor.at(i);
  return sum;
}

TEST(Pictures, ResizeAsPillowDoes) {
  const Tensor picture = pattern({23, 31, 3});
  PicturePreparation preparation;
  preparation.resize = Resize::shorter_side;
  preparation.resized.height = 8;
  preparation.crop = PictureSize{};
  expect_levels(resized_picture(picture, {7, 7}, preparation), {7, 7, 3}, kBilinear);
  expect_levels(resize_picture(picture, {4, 5}, Filter::bicubic), {4, 5, 3}, kBicubic);
  const Tensor small = pattern({3, 2, 1});
  expect_levels(resize_picture(small, {7, 5}, Filter::bilinear), {7, 5, 1}, kEnlarged);
}

TEST(Pictures, ValuesOfPresets) {
  const Tensor picture = pattern({23, 31, 3});
  // 256/224 of 7 is 8.
  const Tensor imagenet =
      picture_to_input(picture, DType::f32, {1, 3, 7, 7}, picture_preset("imagenet"));
  EXPECT_NEAR(imagenet.at(0), -0.19993155, 1e-6);
  EXPECT_NEAR(imagenet.at(1), -0.67942464, 1e-6);
  EXPECT_NEAR(imagenet.at(60), 0.41526622, 1e-6);
  EXPECT_NEAR(imagenet.at(146), 0.51363856, 1e-6);
  EXPECT_NEAR(sum_of(imagenet), 21.601256392896175, 1e-4);

  const Tensor caffe = picture_to_input(picture, DType::f32, {1, 7, 7, 3}, picture_preset("caffe"));
  EXPECT_NEAR(caffe.at(0), -0.939003, 1e-4);
  EXPECT_NEAR(caffe.at(1), 13.221001, 1e-4);
  EXPECT_NEAR(caffe.at(146), 19.32, 1e-4);
  EXPECT_NEAR(sum_of(caffe), 1189.4978713989258, 1e-2);
  for (const std::string& name : picture_presets()) {
    const Tensor input = picture_to_input(picture, DType::f32, {3, 7, 9}, picture_preset(name));
    EXPECT_EQ(input.shape(), (Shape{3, 7, 9})) << name;
  }
  EXPECT_THROW((void)picture_preset("imagenet21k"), UsageError);
}

TEST(Pictures, LevelsAsTheyAre) {
  const Tensor picture = pattern({7, 5, 3});
  const Tensor input = picture_to_input(picture, DType::u8, {1, -1, -1, 3});
  expect_levels(input.reshaped({7, 5, 3}), {7, 5, 3}, picture.as<std::uint8_t>());
  EXPECT_THAT(
      message_of<UsageError>([&] {
        (void)picture_to_input(picture, DType::u8, {1, 7, 5, 3}, picture_preset("imagenet"));
      }),
      HasSubstr("u8"));
  EXPECT_THROW((void)picture_to_input(picture, DType::i64, {1, 7, 5, 3}), UsageError);
  EXPECT_EQ(picture_to_input(picture, DType::f16, {1, 3, 7, 5}).dtype(), DType::f16);
}

TEST(Pictures, FitLiesInTheMiddleOfItsBorder) {
  Tensor picture = Tensor::allocate(DType::u8, {4, 8, 3});
  std::ranges::fill(picture.as_mutable<std::uint8_t>(), 200);
  const Tensor framed = resized_picture(picture, {9, 6}, picture_preset("yolo"));
  ASSERT_EQ(framed.shape(), (Shape{9, 6, 3}));
  for (std::int64_t y = 0; y < 9; ++y) {
    const double expected = y >= 3 && y < 6 ? 200 : 114;  // 4x8 becomes 3x6
    for (std::int64_t x = 0; x < 18; ++x) ASSERT_EQ(framed.at(y * 18 + x), expected) << y;
  }
  const PicturePlace place = place_of({4, 8}, {9, 6}, picture_preset("yolo"));
  EXPECT_EQ(place.scale_x, 0.75);
  EXPECT_EQ(place.scale_y, 0.75);
  EXPECT_EQ(place.top, 3.0);
  EXPECT_EQ(place.left, 0.0);
}

TEST(Pictures, PlacesOfCutPictures) {
  const PicturePlace place = place_of({427, 640}, {224, 224}, picture_preset("imagenet"));
  EXPECT_EQ(place.size, (PictureSize{224, 224}));
  EXPECT_EQ(place.top, -16.0);
  EXPECT_EQ(place.left, -80.0);  // (383 - 224) / 2 is 79.5
  EXPECT_NEAR(place.scale_x, 383.0 / 640.0, 1e-12);
}

TEST(Pictures, SayWhatDoesNotFit) {
  const Tensor picture = pattern({23, 31, 3});
  const auto message = [&](const Shape& shape, const PicturePreparation& preparation) {
    return message_of<UsageError>(
        [&] { (void)picture_to_input(picture, DType::f32, shape, preparation); });
  };
  EXPECT_THAT(message({1, 3, 7, 7}, {}), HasSubstr("resize"));
  EXPECT_THAT(message({1, 3, -1, -1}, picture_preset("imagenet")), HasSubstr("open"));
  EXPECT_THAT(message({1, 5, 7, 7}, {}), HasSubstr("1x3xHxW"));
  PicturePreparation wrong;
  wrong.mean = {0.5F, 0.5F};
  EXPECT_THAT(message({1, 3, 32, 32}, wrong), HasSubstr("3 channels"));
  wrong.mean.clear();
  wrong.deviation = {0.0F};
  EXPECT_THAT(message({1, 3, 32, 32}, wrong), HasSubstr("above 0"));
  wrong = {};
  wrong.resize = Resize::shorter_side;
  for (const std::int64_t side : {std::int64_t{20000}, std::numeric_limits<std::int64_t>::max()}) {
    wrong.resized = {side, side};
    for (const Resize how : {Resize::shorter_side, Resize::stretch, Resize::fit, Resize::cover}) {
      wrong.resize = how;
      EXPECT_THAT(message({1, 3, -1, -1}, wrong), HasSubstr("16384"));
    }
  }
}

/// A JPEG file of four grey blocks, 30, 90 and below 150, 210: 48 pixels wide and 32 high.
std::string blocks() {
  constexpr int kSide = 16;
  std::vector<unsigned char> levels;
  for (int y = 0; y < 2 * kSide; ++y) {
    for (int x = 0; x < 3 * kSide; ++x) {
      levels.push_back(static_cast<unsigned char>(30 + 60 * (x >= kSide) + 120 * (y >= kSide)));
    }
  }
  const tjhandle encoder = tjInitCompress();
  unsigned char* packed = nullptr;
  unsigned long size = 0;
  tjCompress2(encoder, levels.data(), 3 * kSide, 0, 2 * kSide, TJPF_GRAY, &packed, &size,
              TJSAMP_GRAY, 95, 0);
  std::string bytes(reinterpret_cast<const char*>(packed), size);
  tjFree(packed);
  tjDestroy(encoder);
  return bytes;
}

TEST(Pictures, FoldersOfAnySizes) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "dark");
  std::filesystem::create_directories(folder.path() / "seven");
  write_bytes(folder.path() / "dark/blocks.jpg", blocks());
  std::filesystem::copy_file(std::filesystem::path(MORTON_SOURCE_DIR) / "examples/data/digit_7.png",
                             folder.path() / "seven/7.png");
  const std::string path = folder.path().string();
  EXPECT_THROW((void)read_dataset(path, Split::train), ModelError);
  PicturePreparation preparation;
  preparation.resize = Resize::stretch;
  const Dataset data = read_dataset(path, Split::train, {-1, 3, 8, 8}, preparation);
  EXPECT_EQ(data.inputs.shape(), (Shape{2, 3, 8, 8}));
  EXPECT_NEAR(data.inputs.at(0), 30, 3);
  EXPECT_NEAR(data.inputs.at(63), 210, 3);
  EXPECT_EQ(read_dataset(path, Split::train, {-1, 4, 5, 1}, preparation).inputs.shape(),
            (Shape{2, 1, 4, 5}));
  const std::string digits = std::string(MORTON_SOURCE_DIR) + "/data/mnist";
  EXPECT_THAT(message_of<UsageError>([&] {
                (void)read_dataset(digits, Split::test, {-1, 1, 8, 8}, preparation);
              }),
              HasSubstr("folder of pictures"));
}

/// The file with EXIF data of one entry behind its first marker.
std::string with_orientation(const std::string& jpeg, char orientation) {
  std::string tiff("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19);
  tiff += orientation;
  tiff += std::string(6, '\0');
  const std::string segment = std::string("Exif\0\0", 6) + tiff;
  const auto length = static_cast<char>(segment.size() + 2);
  return jpeg.substr(0, 2) + "\xff\xe1" + '\0' + length + segment + jpeg.substr(2);
}

TEST(Pictures, AreTurnedUpright) {
  // Levels at the corners of the upright picture, from the top left, row by row; EXIF 2.3 says
  // which side of what people see the file's first row and first column are.
  constexpr int kCorners[][4] = {{30, 90, 150, 210}, {90, 30, 210, 150}, {210, 150, 90, 30},
                                 {150, 210, 30, 90}, {30, 150, 90, 210}, {150, 30, 210, 90},
                                 {210, 90, 150, 30}, {90, 210, 30, 150}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Tensor picture =
        decode_image(with_orientation(blocks(), static_cast<char>(orientation)), "memory");
    const Shape& shape = picture.shape();
    ASSERT_EQ(shape, orientation >= 5 ? (Shape{48, 32, 1}) : (Shape{32, 48, 1})) << orientation;
    const std::int64_t last = picture.size() - 1;
    const std::int64_t at[] = {0, shape[1] - 1, last - shape[1] + 1, last};
    for (int corner = 0; corner < 4; ++corner) {
      EXPECT_NEAR(picture.at(at[corner]), kCorners[orientation - 1][corner], 3) << orientation;
    }
  }
  EXPECT_EQ(exif_orientation(with_orientation(blocks(), 9)), 1);
}

TEST(Pictures, OrientationsOfUnusualFiles) {
  const std::string plain = with_orientation(blocks(), 6);
  std::string filled = plain;
  filled.insert(2, "\xff\xff");  // before a marker
  EXPECT_EQ(exif_orientation(filled), 6);
  std::string wide = plain;  // a number of 4 bytes
  const std::size_t entry = wide.find(std::string("\x01\x12\0\x03", 4));
  ASSERT_NE(entry, std::string::npos);
  wide.replace(entry + 3, 1, "\x04");
  wide.replace(entry + 8, 4, std::string("\0\0\0\x06", 4));
  EXPECT_EQ(exif_orientation(wide), 6);
}

/// A PNG file of `pattern({7, 5, 3})` that says of itself that its gamma is 1.0.
std::string in_linear_light() {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "p.png";
  write_picture(path.string(), pattern({7, 5, 3}));
  constexpr std::size_t kBehindTheHeader = 33;
  return read_file(path, 1 << 20)
      .insert(kBehindTheHeader, std::string("\0\0\0\x04gAMA\x00\x01\x86\xa0\x31\xe8\x96\x5f", 16));
}

TEST(Pictures, LevelsHoldWhateverGammaIsSaid) {
  expect_levels(decode_image(in_linear_light(), "memory"), {7, 5, 3},
                pattern({7, 5, 3}).as<std::uint8_t>());
}

TEST(PicturesHostile, Gamma) {
  const auto read = [](const std::string& text) { (void)decode_image(text, "memory"); };
  const std::string bytes = in_linear_light();
  Hostility hostility(read);
  hostility.truncate(bytes.substr(0, bytes.size() - 12));
  EXPECT_EQ(hostility.accepted, 0);
  hostility.flip(bytes, 1000, bytes.size());
}

TEST(PicturesHostile, Exif) {
  const std::string bytes = with_orientation(blocks(), 6).substr(0, 80);
  const auto read = [](const std::string& text) { (void)exif_orientation(text); };
  Hostility hostility(read);
  hostility.truncate(bytes);
  hostility.flip(bytes, 2000, bytes.size());
  EXPECT_EQ(hostility.refused, 0);  // what EXIF does not say is no error
}

}  // namespace
}  // namespace morton::test
