// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/use/image.hpp"
#include "device/use/transfer.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr const char* kImageSource = R"(
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void copy2d(__read_only image2d_t from, __global float* to, int width) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  vstore4(read_imagef(from, nearest, (int2)(x, y)), y * width + x, to);
}

__kernel void copy1d(__read_only image1d_buffer_t from, __global float* to) {
  const int x = get_global_id(0);
  vstore4(read_imagef(from, x), x, to);
}
)";

class DeviceImage : public test::DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!device().info().image.supported) GTEST_SKIP() << "has no images";
    queue_ = device().make_queue(OpenClDevice::QueueKind::plain);
    BuildReport report;
    program_ = device().programs().get(kImageSource, {"copy2d", "copy1d"}, report);
  }
  /// What the kernel reads through `image`.
  std::vector<float> texels_of(const cl::Image2D& image, const ImageSize& size) {
    std::vector<float> got(static_cast<std::size_t>(size.width * size.height * 4), -1.0F);
    const auto bytes = std::as_writable_bytes(std::span(got));
    const Block to = device().memory().allocate(static_cast<std::int64_t>(bytes.size()));
    cl::Kernel kernel(program_->program, "copy2d");
    kernel.setArg(0, image);
    kernel.setArg(1, to.buffer());
    kernel.setArg(2, static_cast<cl_int>(size.width));
    const cl::NDRange global(static_cast<cl::size_type>(size.width),
                             static_cast<cl::size_type>(size.height));
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, global, cl::NDRange(1, 1));
    read_buffer(queue_, device().info(), to.buffer(), 0, bytes);
    return got;
  }

  cl::CommandQueue queue_;
  std::shared_ptr<CachedProgram> program_;
};
MORTON_ON_EVERY_DEVICE(DeviceImage);

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.5F - 3.0F;
  return values;
}

TEST_P(DeviceImage, AnImageOfItsOwnHoldsWhatIsWritten) {
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{3, 17}, ImageSize{63, 5}}) {
    const auto sent = numbers(size.width * size.height * 4);
    const cl::Image2D image = make_image2d(device(), size);
    write_image(queue_, device().info(), image, size, std::as_bytes(std::span(sent)));
    EXPECT_EQ(texels_of(image, size), sent) << size.width << " x " << size.height;
    std::vector<float> back(sent.size());
    read_image(queue_, device().info(), image, size, std::as_writable_bytes(std::span(back)));
    EXPECT_EQ(back, sent);
  }
}

TEST_P(DeviceImage, AnImageThatTheHostMapsHoldsTheRowsOfABuffer) {
  constexpr std::int64_t kOffset = 64;
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{3, 17}, ImageSize{63, 5}}) {
    const auto sent = numbers(size.width * size.height * 4);
    const auto bytes = std::as_bytes(std::span(sent));
    const Block from =
        device().memory().allocate(kOffset + static_cast<std::int64_t>(bytes.size()));
    write_buffer(queue_, device().info(), from.buffer(), kOffset, bytes);
    const cl::Image2D image = make_image2d(device(), size);
    write_mapped_image(queue_, device().info(), image, size, from.buffer(), kOffset);
    EXPECT_EQ(texels_of(image, size), sent) << size.width << " x " << size.height;
  }
}

TEST_P(DeviceImage, HalfTexelsAreReadAsFloat) {
  const ImageSize size{3, 1, TexelType::f16};
  // 1, 2, -0.5 and 0 in half precision.
  std::vector<std::uint16_t> sent;
  for (int i = 0; i < 3; ++i) sent.insert(sent.end(), {0x3c00, 0x4000, 0xb800, 0x0000});
  const cl::Image2D image = make_image2d(device(), size);
  write_image(queue_, device().info(), image, size, std::as_bytes(std::span(sent)));
  const std::vector<float> texel{1.0F, 2.0F, -0.5F, 0.0F};
  const auto got = texels_of(image, size);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], texel[i % 4]) << i;
}

TEST_P(DeviceImage, ARowOnABufferSharesItsMemory) {
  constexpr std::int64_t kTexels = 63;
  const auto sent = numbers(kTexels * 4);
  const Block from = device().memory().allocate(kTexels * 16);
  const Block to = device().memory().allocate(kTexels * 16);
  write_buffer(queue_, device().info(), from.buffer(), 0, std::as_bytes(std::span(sent)));
  const auto image = image1d_on(device(), from.buffer(), kTexels, TexelType::f32);
  cl::Kernel kernel(program_->program, "copy1d");
  kernel.setArg(0, image);
  kernel.setArg(1, to.buffer());
  queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(kTexels), cl::NDRange(1));
  std::vector<float> got(sent.size());
  read_buffer(queue_, device().info(), to.buffer(), 0, std::as_writable_bytes(std::span(got)));
  EXPECT_EQ(got, sent);
  const std::int64_t too_many = from.bytes() / 16 + 1;
  EXPECT_THROW((void)image1d_on(device(), from.buffer(), too_many, TexelType::f32), InternalError);
  EXPECT_THROW((void)image1d_on(device(), from.buffer(), 0, TexelType::f32), InternalError);
  EXPECT_THROW((void)image1d_on(device(), from.buffer(), INT64_MAX, TexelType::f32),
               UnsupportedError);
}

TEST_P(DeviceImage, AnImageOnABufferSharesItsMemoryOrIsRefused) {
  const ImageSize size{17, 3};
  const std::int64_t pitch = row_pitch_bytes(device().info(), size.width, size.type);
  const Block block = device().memory().allocate(pitch * size.height);
  if (!device().info().image.from_buffer) {
    EXPECT_THROW((void)image2d_on(device(), block.buffer(), size, pitch), UnsupportedError);
    return;
  }
  std::vector<float> sent;
  const auto row = numbers(size.width * 4);
  for (std::int64_t y = 0; y < size.height; ++y) {
    write_buffer(queue_, device().info(), block.buffer(), y * pitch, std::as_bytes(std::span(row)));
    sent.insert(sent.end(), row.begin(), row.end());
  }
  EXPECT_EQ(texels_of(image2d_on(device(), block.buffer(), size, pitch), size), sent);
  EXPECT_THROW((void)image2d_on(device(), block.buffer(), size, pitch - 16), InternalError);
  EXPECT_THROW((void)image2d_on(device(), block.buffer(), size, pitch + 1), InternalError);
  const ImageSize higher{size.width, block.bytes() / pitch + 2};
  EXPECT_THROW((void)image2d_on(device(), block.buffer(), higher, pitch), InternalError);
}

TEST_P(DeviceImage, LimitsAreCheckedFirst) {
  const std::int64_t widest = device().info().image.max_width;
  EXPECT_THROW((void)make_image2d(device(), {widest + 1, 1}), UnsupportedError);
  EXPECT_THROW((void)make_image2d(device(), {1, INT64_MAX}), UnsupportedError);
  EXPECT_THROW((void)make_image2d(device(), {0, 1}), InternalError);
  const ImageSize size{2, 2};
  const auto image = make_image2d(device(), size);
  std::vector<std::byte> few(63);
  EXPECT_THROW(write_image(queue_, device().info(), image, size, few), InternalError);
}

TEST(DeviceImagePitch, FollowsTheDevicesAlignment) {
  DeviceInfo info;
  info.image.pitch_alignment_texels = 16;
  EXPECT_EQ(row_pitch_bytes(info, 17, TexelType::f32), 32 * 16);
  EXPECT_EQ(row_pitch_bytes(info, 17, TexelType::f16), 32 * 8);
  info.image.pitch_alignment_texels = 0;
  EXPECT_EQ(row_pitch_bytes(info, 17, TexelType::f32), 17 * 16);
}

}  // namespace
}  // namespace morton::test
