// SPDX-License-Identifier: Apache-2.0
#include "device/open/facts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "device/open/quirks.hpp"

namespace morton::device {
namespace {

/// A number that the driver answers as a T, or `fallback` when it does not know the question.
template <typename T>
std::int64_t number(const cl::Device& device, cl_device_info question, std::int64_t fallback) {
  T value{};
  if (clGetDeviceInfo(device(), question, sizeof(value), &value, nullptr) != CL_SUCCESS) {
    return fallback;
  }
  if constexpr (sizeof(T) == sizeof(std::int64_t)) {
    constexpr auto kLargest = static_cast<std::uint64_t>(INT64_MAX);
    return static_cast<std::int64_t>(std::min(static_cast<std::uint64_t>(value), kLargest));
  } else {
    return static_cast<std::int64_t>(value);
  }
}

bool truth(const cl::Device& device, cl_device_info question) {
  return number<cl_bool>(device, question, CL_FALSE) != CL_FALSE;
}

/// A text of the driver without the zero byte and the blanks that some leave at its end.
std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ' || text.back() == '\n')) {
    text.pop_back();
  }
  return text;
}

void ask_names(const cl::Device& device, DeviceInfo& info) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  info.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.driver_version = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.device_version = trimmed(device.getInfo<CL_DEVICE_VERSION>());
  info.opencl_c_version = trimmed(device.getInfo<CL_DEVICE_OPENCL_C_VERSION>());
  info.extensions = trimmed(device.getInfo<CL_DEVICE_EXTENSIONS>());
  info.profile = trimmed(device.getInfo<CL_DEVICE_PROFILE>());
  const auto type = device.getInfo<CL_DEVICE_TYPE>();
  info.kind = (type & CL_DEVICE_TYPE_CPU) != 0   ? DeviceInfo::Kind::cpu
              : (type & CL_DEVICE_TYPE_GPU) != 0 ? DeviceInfo::Kind::gpu
                                                 : DeviceInfo::Kind::accelerator;
}

void ask_sizes(const cl::Device& device, DeviceInfo& info) {
  info.compute_units =
      std::max<std::int64_t>(1, number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1));
  info.clock_mhz = number<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, 0);
  if (info.extensions.find("cl_nv_device_attribute_query") != std::string::npos) {
    constexpr cl_device_info kMajor = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
    constexpr cl_device_info kMinor = 0x4001;
    info.cuda_compute_capability =
        10 * number<cl_uint>(device, kMajor, 0) + number<cl_uint>(device, kMinor, 0);
  }
  info.max_work_group_size =
      std::max<std::int64_t>(1, number<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
  const auto sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  for (std::size_t i = 0; i < std::min(sizes.size(), info.max_work_item_sizes.size()); ++i) {
    info.max_work_item_sizes[i] = std::max<std::int64_t>(1, static_cast<std::int64_t>(sizes[i]));
  }
  // CL_DEVICE_MEM_BASE_ADDR_ALIGN is in bits.
  info.base_address_alignment_bytes =
      std::max<std::int64_t>(1, number<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8);
  info.preferred_vector_f32 = number<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 1);
  info.native_vector_f32 = number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1);
  info.native_vector_f16 = number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 0);
  info.timer_resolution_ns =
      static_cast<double>(number<std::size_t>(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, 0));
}

void ask_memory(const cl::Device& device, DeviceInfo& info) {
  info.global_memory_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
  info.max_allocation_bytes = number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
  info.global_cache_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0);
  info.cache_line_bytes = number<cl_uint>(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 0);
  const auto local = number<cl_uint>(device, CL_DEVICE_LOCAL_MEM_TYPE, CL_NONE);
  info.local_memory_is_dedicated = local == CL_LOCAL;
  info.local_memory_bytes =
      local == CL_NONE ? 0 : number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  info.constant_buffer_bytes = number<cl_ulong>(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 0);
  info.unified_memory = truth(device, CL_DEVICE_HOST_UNIFIED_MEMORY);
}

/// Makes an image of 1 row from a buffer; drivers that list the extension may still refuse.
bool can_make_image_from_buffer(const cl::Device& device, std::int64_t pitch_texels) {
  constexpr std::size_t kTexelBytes = 4 * sizeof(float);
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(pitch_texels, 64));
  try {
    const cl::Context context(device);
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, width * kTexelBytes);
    const cl_image_format format{CL_RGBA, CL_FLOAT};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = width;
    shape.image_height = 1;
    shape.image_row_pitch = width * kTexelBytes;
    shape.buffer = buffer();
    cl_int status = CL_SUCCESS;
    const cl_mem image =
        clCreateImage(context(), CL_MEM_READ_ONLY, &format, &shape, nullptr, &status);
    if (image != nullptr) clReleaseMemObject(image);
    return status == CL_SUCCESS;
  } catch (const cl::Error&) {
    return false;
  }
}

void ask_images(const cl::Device& device, DeviceInfo& info) {
  info.images = truth(device, CL_DEVICE_IMAGE_SUPPORT);
  if (!info.images) return;
  info.image_max_width = number<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH, 0);
  info.image_max_height = number<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, 0);
  info.image_buffer_max_texels = number<std::size_t>(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 0);
  if (!has_extension(info.extensions, "cl_khr_image2d_from_buffer")) return;
  info.image_pitch_alignment_texels =
      number<cl_uint>(device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT_KHR, 0);
  info.image_from_buffer = !has_effect(info, QuirkEffect::no_image_from_buffer) &&
                           can_make_image_from_buffer(device, info.image_pitch_alignment_texels);
}

void ask_abilities(const cl::Device& device, DeviceInfo& info) {
  info.fp16 =
      has_extension(info.extensions, "cl_khr_fp16") && !has_effect(info, QuirkEffect::no_half);
  if (!info.fp16) info.native_vector_f16 = 0;
  info.fp64 = has_extension(info.extensions, "cl_khr_fp64");
  const auto queue = number<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES,
                                                         CL_QUEUE_PROFILING_ENABLE);
  info.profiling =
      (queue & CL_QUEUE_PROFILING_ENABLE) != 0 && !has_effect(info, QuirkEffect::no_event_times);
  info.out_of_order = (queue & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  info.compiler = truth(device, CL_DEVICE_COMPILER_AVAILABLE);
}

}  // namespace

bool has_extension(const std::string& extensions, const std::string& name) {
  return (" " + extensions + " ").find(" " + name + " ") != std::string::npos;
}

DeviceInfo facts_of(const cl::Device& device, const std::string& id) {
  DeviceInfo info;
  info.id = id;
  ask_names(device, info);
  info.quirks = quirks_of(info);
  ask_sizes(device, info);
  ask_memory(device, info);
  ask_images(device, info);
  ask_abilities(device, info);
  info.roofs = guessed_roofs(info);
  return info;
}

}  // namespace morton::device
