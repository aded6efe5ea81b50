// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_image.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.hpp"

namespace morton::device {
namespace {

constexpr const char* kImages = "measuring reads of images";
constexpr std::int64_t kMostImageLaunches = std::int64_t{1} << 20;
constexpr std::int64_t kChannels = 4;
/// Texels of a turn of the loop.
constexpr std::int64_t kTexels = 4;

/// The bits of 0 to 3.
constexpr std::uint16_t kHalves[] = {0x0000, 0x3C00, 0x4000, 0x4200};

/// SOURCE, READ(x, y), ORDER and PARTS come before it. The square has 1 << shift columns.
constexpr const char* kReadText = R"(
#if PARTS
#define AT(j) (id * (4 * turns) + 4 * t + j)
#else
#define AT(j) ((4 * t + j) * step + id)
#endif
float4 read_texel(SOURCE memory, uint shift, uint p) {
  const uint mask = (1u << shift) - 1;
#if ORDER == 0
  const uint x = p & mask, y = p >> shift;
#elif ORDER == 1
  const uint x = p >> shift, y = p & mask;
#else
  const uint tile = p >> 6, in_tile = p & 63;
  const uint x = ((tile & (mask >> 3)) << 3) + (in_tile & 7);
  const uint y = ((tile >> (shift - 3)) << 3) + (in_tile >> 3);
#endif
  return READ(x, y);
}
__kernel void read_square(SOURCE memory, uint shift, uint turns, __global float4* sums) {
  const uint id = get_global_id(0), step = get_global_size(0);
  float4 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
  for (uint t = 0; t < turns; ++t) {
    s0 += read_texel(memory, shift, AT(0));
    s1 += read_texel(memory, shift, AT(1));
    s2 += read_texel(memory, shift, AT(2));
    s3 += read_texel(memory, shift, AT(3));
  }
  sums[id] = (s0 + s1) + (s2 + s3);
}
)";

cl::ImageFormat texel_format(ImageProbe::Type type) {
  return {CL_RGBA, type == ImageProbe::Type::f32 ? cl_channel_type{CL_FLOAT}
                                                 : cl_channel_type{CL_HALF_FLOAT}};
}

/// Channel e, 0 to 3, so that all sums are exact.
std::uint32_t channel(std::size_t e) {
  return (static_cast<std::uint32_t>(e) * 2654435761U) >> 30U;
}

}  // namespace

std::string ImageProbe::why_not(const OpenClDevice& device, Type type, std::int64_t width) {
  const DeviceInfo& info = device.info();
  if (!info.image.supported) return "the device has no images";
  if (width > info.image.max_width || width > info.image.max_height) {
    return "the device's images are of at most " + std::to_string(info.image.max_width) + " x " +
           std::to_string(info.image.max_height) + " texels";
  }
  std::vector<cl::ImageFormat> formats;
  with_device_errors(kImages, info, [&] {
    device.context().getSupportedImageFormats(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, &formats);
  });
  const cl::ImageFormat wanted = texel_format(type);
  const bool has = std::ranges::any_of(formats, [&](const cl::ImageFormat& format) {
    return format.image_channel_order == wanted.image_channel_order &&
           format.image_channel_data_type == wanted.image_channel_data_type;
  });
  return has ? "" : "the device has no such texels";
}

ImageProbe::ImageProbe(std::shared_ptr<OpenClDevice> device, Type type, Memory memory,
                       std::int64_t width)
    : device_(std::move(device)), type_(type), memory_(memory), width_(width) {
  const DeviceInfo& info = device_->info();
  const auto floor = [](std::int64_t value) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
  };
  const bool cpu = info.kind == DeviceInfo::Kind::cpu;
  work_group_ = cpu ? 1 : std::min<std::int64_t>(64, floor(info.compute.max_work_group_size));
  work_items_ = floor(info.compute.units * (cpu ? 4 : work_group_ * 16));
  work_items_ = std::max(work_group_, std::min(work_items_, width * width / kTexels));
  const auto elements = static_cast<std::size_t>(width * width * kChannels);
  std::vector<float> values(elements);
  std::vector<std::uint16_t> halves(type == Type::f16 ? elements : 0);
  for (std::size_t e = 0; e < elements; ++e) {
    values[e] = static_cast<float>(channel(e));
    expected_ += static_cast<double>(values[e]);
    if (type == Type::f16) halves[e] = kHalves[channel(e)];
  }
  void* const data = type == Type::f16 ? static_cast<void*>(halves.data()) : values.data();
  with_device_errors(kImages, info, [&] {
    constexpr cl_mem_flags kFlags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    const auto extent = static_cast<cl::size_type>(width);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    if (memory == Memory::image) {
      image_ = cl::Image2D(device_->context(), kFlags, texel_format(type), extent, extent, 0, data);
    } else {
      buffer_ = cl::Buffer(device_->context(), kFlags, static_cast<cl::size_type>(bytes()), data);
    }
    sums_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE,
                       static_cast<cl::size_type>(work_items_ * kChannels * 4));
  });
}

std::int64_t ImageProbe::bytes() const {
  return width_ * width_ * kChannels * (type_ == Type::f32 ? 4 : 2);
}

std::string ImageProbe::source_of(Order order) const {
  const bool cpu = device_->info().kind == DeviceInfo::Kind::cpu;
  std::string text = std::string("#define PARTS ") + (cpu ? "1" : "0") + "\n#define ORDER " +
                     std::to_string(static_cast<int>(order)) + "\n";
  if (memory_ == Memory::image) {
    text +=
        "__constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | "
        "CLK_FILTER_NEAREST;\n#define SOURCE __read_only image2d_t\n"
        "#define READ(x, y) read_imagef(memory, exact, (int2)(x, y))\n";
  } else if (type_ == Type::f32) {
    text +=
        "#define SOURCE __global const float4*\n#define READ(x, y) memory[((y) << shift) + (x)]\n";
  } else {
    text +=
        "#define SOURCE __global const half*\n"
        "#define READ(x, y) vload_half4(((y) << shift) + (x), memory)\n";
  }
  return text + kReadText;
}

void ImageProbe::check() {
  std::vector<float> sums(static_cast<std::size_t>(work_items_ * kChannels));
  queue_.enqueueReadBuffer(sums_, CL_TRUE, 0, sums.size() * sizeof(float), sums.data());
  const double got = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (got == expected_) return;
  throw DeviceError(std::string(kImages) + ": the sum of the texels is " + std::to_string(got) +
                    " where " + std::to_string(expected_) + " was expected, on " +
                    device_->info().name +
                    ": its driver does not run what was written; update it, or use another device");
}

std::vector<double> ImageProbe::measure(Order order, const Sampling& sampling) {
  std::vector<double> rates;
  with_device_errors(kImages, device_->info(), [&] {
    BuildReport report;
    const auto program = device_->programs().get(source_of(order), {"read_square"}, report);
    cl::Kernel kernel(program->program, "read_square");
    if (memory_ == Memory::image) {
      kernel.setArg(0, image_);
    } else {
      kernel.setArg(0, buffer_);
    }
    kernel.setArg(1, static_cast<cl_uint>(std::countr_zero(static_cast<std::uint64_t>(width_))));
    kernel.setArg(2, static_cast<cl_uint>(width_ * width_ / kTexels / work_items_));
    kernel.setArg(3, sums_);
    const Work work = repeated([&] { return launch_ms(queue_, kernel, work_items_, work_group_); });
    const std::int64_t launches = sufficient_amount(work, 1, kMostImageLaunches, sampling, kImages);
    for (const double ms : samples_of(work, launches, sampling)) {
      rates.push_back(static_cast<double>(bytes()) / (ms * 1e6));
    }
    check();
    (void)device_->programs().store(*program);
  });
  return rates;
}

}  // namespace morton::device
