// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/rooms.hpp"
#include "device/open/opencl.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {

/// Type of each of a texel's four channels (RGBA).
enum class TexelType : std::uint8_t { f32, f16 };

/// An image of `height` rows of `width` texels.
struct ImageSize {
  std::int64_t width = 0, height = 0;
  TexelType type = TexelType::f32;
};

/// 16 or 8.
[[nodiscard]] std::int64_t texel_bytes(TexelType type);
/// The least row pitch of an image of this width on a buffer, which the device's alignment of
/// pitches decides.
[[nodiscard]] std::int64_t row_pitch_bytes(const DeviceInfo& info, std::int64_t width,
                                           TexelType type);

/// All of these check the device's limits before the driver is asked and throw UnsupportedError
/// that names the limit, or DeviceError when the driver refuses.
///
/// An image with memory of its own, which the host can map without a copy where the device shares
/// the host's.
[[nodiscard]] cl::Image2D make_image2d(const OpenClDevice& device, const ImageSize& size);
/// An image that shares the memory of `buffer`, whose rows lie `pitch_bytes` apart. Needs
/// info().image.from_buffer. Throws InternalError for a pitch or a buffer that does not fit.
[[nodiscard]] cl::Image2D image2d_on(const OpenClDevice& device, const cl::Buffer& buffer,
                                     const ImageSize& size, std::int64_t pitch_bytes);
/// A row of `texels` texels that shares the memory of `buffer` (image1d_buffer_t).
[[nodiscard]] cl::Image1DBuffer image1d_on(const OpenClDevice& device, const cl::Buffer& buffer,
                                           std::int64_t texels, TexelType type);

/// Copies rows without gaps to or from an image; waits until it is done. Throws InternalError when
/// the number of bytes is not the image's.
void write_image(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Image2D& image,
                 const ImageSize& size, std::span<const std::byte> from);
/// The same without a command of the driver's for each byte: the host maps both and copies row by
/// row, at the pitch that the driver gives the image (A16, figure 5). `from` is a buffer that holds
/// the rows from `offset` on.
void write_mapped_image(const cl::CommandQueue& queue, const DeviceInfo& info,
                        const cl::Image2D& image, const ImageSize& size, const cl::Buffer& from,
                        cl::size_type offset);
void read_image(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Image2D& image,
                const ImageSize& size, std::span<std::byte> to);

}  // namespace morton::device
