// SPDX-License-Identifier: Apache-2.0
#include "device/use/image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"

namespace morton::device {
namespace {

std::string text_of(const ImageSize& size) {
  return "image of " + std::to_string(size.width) + " x " + std::to_string(size.height) + " texels";
}

cl::ImageFormat format_of(TexelType type) {
  return {CL_RGBA,
          type == TexelType::f32 ? cl_channel_type{CL_FLOAT} : cl_channel_type{CL_HALF_FLOAT}};
}

void require_images(const DeviceInfo& info, const std::string& what) {
  if (!info.image.supported)
    throw UnsupportedError(what + ": " + info.name + " has no images; use buffers");
}

void require_within_limits(const DeviceInfo& info, const ImageSize& size) {
  require_images(info, text_of(size));
  if (size.width < 1 || size.height < 1) {
    throw InternalError(text_of(size) + ": must have at least one texel");
  }
  if (size.width > info.image.max_width || size.height > info.image.max_height) {
    throw UnsupportedError(text_of(size) + ": " + info.name + " has images of at most " +
                           std::to_string(info.image.max_width) + " x " +
                           std::to_string(info.image.max_height) + "; use a buffer");
  }
}

/// Bytes of the image without gaps; within the limits of images they cannot overflow 64 bits.
std::int64_t bytes_of(const ImageSize& size) {
  return checked_mul(checked_mul(size.width, size.height, "image"), texel_bytes(size.type),
                     "image");
}

void require_buffer_holds(const cl::Buffer& buffer, std::int64_t bytes, const std::string& what) {
  const auto size = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
  if (size < bytes) {
    throw InternalError(what + ": needs a buffer of " + std::to_string(bytes) + " bytes, got " +
                        std::to_string(size));
  }
}

void require_bytes(const ImageSize& size, std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) != bytes_of(size)) {
    throw InternalError(text_of(size) + ": expected " + std::to_string(bytes_of(size)) +
                        " bytes, got " + std::to_string(bytes));
  }
}

std::array<cl::size_type, 3> region_of(const ImageSize& size) {
  return {static_cast<cl::size_type>(size.width), static_cast<cl::size_type>(size.height), 1};
}

}  // namespace

std::int64_t texel_bytes(TexelType type) { return type == TexelType::f32 ? 16 : 8; }

std::int64_t row_pitch_bytes(const DeviceInfo& info, std::int64_t width, TexelType type) {
  const auto alignment = std::max<std::int64_t>(info.image.pitch_alignment_texels, 1);
  return checked_mul(round_up(width, alignment), texel_bytes(type), "row pitch of an image");
}

cl::Image2D make_image2d(const OpenClDevice& device, const ImageSize& size) {
  const DeviceInfo& info = device.info();
  require_within_limits(info, size);
  if (bytes_of(size) > info.memory.max_allocation_bytes) {
    throw DeviceError(text_of(size) + ": needs " + std::to_string(bytes_of(size)) + " bytes, " +
                      info.name + " gives at most " +
                      std::to_string(info.memory.max_allocation_bytes) + " at once");
  }
  const cl_mem_flags flags =
      CL_MEM_READ_WRITE | (info.memory.is_unified ? CL_MEM_ALLOC_HOST_PTR : cl_mem_flags{0});
  cl::Image2D image;
  with_device_errors(text_of(size), info, [&] {
    image = cl::Image2D(device.context(), flags, format_of(size.type),
                        static_cast<cl::size_type>(size.width),
                        static_cast<cl::size_type>(size.height));
  });
  return image;
}

cl::Image2D image2d_on(const OpenClDevice& device, const cl::Buffer& buffer, const ImageSize& size,
                       std::int64_t pitch_bytes) {
  const DeviceInfo& info = device.info();
  const std::string what = text_of(size) + " on a buffer";
  require_within_limits(info, size);
  if (!info.image.from_buffer) {
    throw UnsupportedError(what + ": " + info.name +
                           " cannot make images from buffers; copy into an image of its own");
  }
  const std::int64_t step = row_pitch_bytes(info, 1, size.type);
  if (pitch_bytes < row_pitch_bytes(info, size.width, size.type) || pitch_bytes % step != 0) {
    throw InternalError(what + ": a row pitch of " + std::to_string(pitch_bytes) +
                        " bytes does not hold a row or is no multiple of " + std::to_string(step));
  }
  cl::Image2D image;
  with_device_errors(what, info, [&] {
    const std::int64_t last_row =
        checked_mul(size.width, texel_bytes(size.type), "row of an image");
    require_buffer_holds(
        buffer, checked_add(checked_mul(size.height - 1, pitch_bytes, "image"), last_row, "image"),
        what);
    const cl::ImageFormat format = format_of(size.type);
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = static_cast<std::size_t>(size.width);
    shape.image_height = static_cast<std::size_t>(size.height);
    shape.image_row_pitch = static_cast<std::size_t>(pitch_bytes);
    shape.buffer = buffer();
    cl_int status = CL_SUCCESS;
    // The C++ binding has this constructor only for OpenCL 2.0.
    const cl_mem made =
        clCreateImage(device.context()(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &status);
    if (status != CL_SUCCESS) throw cl::Error(status, "clCreateImage");
    image = cl::Image2D(made);
  });
  return image;
}

cl::Image1DBuffer image1d_on(const OpenClDevice& device, const cl::Buffer& buffer,
                             std::int64_t texels, TexelType type) {
  const DeviceInfo& info = device.info();
  const std::string what = "image of a row of " + std::to_string(texels) + " texels on a buffer";
  require_images(info, what);
  if (texels < 1) throw InternalError(what + ": must have at least one texel");
  if (texels > info.image.buffer_max_texels) {
    throw UnsupportedError(what + ": " + info.name + " has at most " +
                           std::to_string(info.image.buffer_max_texels) + "; use a buffer");
  }
  cl::Image1DBuffer image;
  with_device_errors(what, info, [&] {
    require_buffer_holds(buffer, checked_mul(texels, texel_bytes(type), "image"), what);
    image = cl::Image1DBuffer(device.context(), CL_MEM_READ_WRITE, format_of(type),
                              static_cast<cl::size_type>(texels), buffer);
  });
  return image;
}

void write_image(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Image2D& image,
                 const ImageSize& size, std::span<const std::byte> from) {
  require_bytes(size, from.size());
  with_device_errors("writing the " + text_of(size), info, [&] {
    queue.enqueueWriteImage(image, CL_TRUE, {0, 0, 0}, region_of(size), 0, 0, from.data());
  });
}

void write_mapped_image(const cl::CommandQueue& queue, const DeviceInfo& info,
                        const cl::Image2D& image, const ImageSize& size, const cl::Buffer& from,
                        cl::size_type offset) {
  const auto bytes = static_cast<std::size_t>(bytes_of(size));
  const auto row_bytes = static_cast<std::size_t>(size.width * texel_bytes(size.type));
  with_device_errors("mapping the " + text_of(size), info, [&] {
    cl::size_type pitch = 0;
    auto* const source = static_cast<const std::byte*>(
        queue.enqueueMapBuffer(from, CL_TRUE, CL_MAP_READ, offset, bytes));
    std::byte* rows = nullptr;
    try {
      rows = static_cast<std::byte*>(queue.enqueueMapImage(image, CL_TRUE, CL_MAP_WRITE, {0, 0, 0},
                                                           region_of(size), &pitch, nullptr));
    } catch (const cl::Error&) {
      queue.enqueueUnmapMemObject(from, const_cast<std::byte*>(source));
      throw;
    }
    for (std::int64_t y = 0; y < size.height; ++y) {
      const auto row = static_cast<std::size_t>(y);
      std::memcpy(rows + row * pitch, source + row * row_bytes, row_bytes);
    }
    queue.enqueueUnmapMemObject(image, rows);
    queue.enqueueUnmapMemObject(from, const_cast<std::byte*>(source));
    queue.finish();
  });
}

void read_image(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Image2D& image,
                const ImageSize& size, std::span<std::byte> to) {
  require_bytes(size, to.size());
  with_device_errors("reading the " + text_of(size), info, [&] {
    queue.enqueueReadImage(image, CL_TRUE, {0, 0, 0}, region_of(size), 0, 0, to.data());
  });
}

}  // namespace morton::device
