// SPDX-License-Identifier: Apache-2.0
#include "device/open/facts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "device/open/instruction_trial.hpp"
#include "device/open/processor.hpp"
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
  info.driver.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.driver.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.driver.version = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.driver.device_version = trimmed(device.getInfo<CL_DEVICE_VERSION>());
  info.driver.opencl_c_version = trimmed(device.getInfo<CL_DEVICE_OPENCL_C_VERSION>());
  info.features.extensions = trimmed(device.getInfo<CL_DEVICE_EXTENSIONS>());
  info.driver.profile = trimmed(device.getInfo<CL_DEVICE_PROFILE>());
  const auto type = device.getInfo<CL_DEVICE_TYPE>();
  info.kind = (type & CL_DEVICE_TYPE_CPU) != 0   ? DeviceInfo::Kind::cpu
              : (type & CL_DEVICE_TYPE_GPU) != 0 ? DeviceInfo::Kind::gpu
                                                 : DeviceInfo::Kind::accelerator;
}

void ask_sizes(const cl::Device& device, DeviceInfo& info) {
  info.compute.units =
      std::max<std::int64_t>(1, number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1));
  info.compute.clock_mhz = number<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, 0);
  if (info.features.extensions.find("cl_nv_device_attribute_query") != std::string::npos) {
    constexpr cl_device_info kMajor = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
    constexpr cl_device_info kMinor = 0x4001;
    info.compute.cuda_capability =
        10 * number<cl_uint>(device, kMajor, 0) + number<cl_uint>(device, kMinor, 0);
  }
  info.compute.max_work_group_size =
      std::max<std::int64_t>(1, number<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
  const auto sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  for (std::size_t i = 0; i < std::min(sizes.size(), info.compute.max_work_item_sizes.size());
       ++i) {
    info.compute.max_work_item_sizes[i] =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(sizes[i]));
  }
  // CL_DEVICE_MEM_BASE_ADDR_ALIGN is in bits.
  info.memory.base_alignment_bytes =
      std::max<std::int64_t>(1, number<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8);
  info.compute.preferred_vector_f32 =
      number<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 1);
  info.compute.native_vector_f32 = number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1);
  info.compute.native_vector_f16 = number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 0);
  info.features.timer_resolution_ns =
      static_cast<double>(number<std::size_t>(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, 0));
}

void ask_memory(const cl::Device& device, DeviceInfo& info) {
  info.memory.global_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
  info.memory.max_allocation_bytes = number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
  info.memory.cache_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0);
  info.memory.cache_line_bytes = number<cl_uint>(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 0);
  const auto local = number<cl_uint>(device, CL_DEVICE_LOCAL_MEM_TYPE, CL_NONE);
  info.memory.local_is_dedicated = local == CL_LOCAL;
  info.memory.local_bytes =
      local == CL_NONE ? 0 : number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  info.memory.constant_buffer_bytes =
      number<cl_ulong>(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 0);
  info.memory.is_unified = truth(device, CL_DEVICE_HOST_UNIFIED_MEMORY);
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
  info.image.supported = truth(device, CL_DEVICE_IMAGE_SUPPORT);
  if (!info.image.supported) return;
  info.image.max_width = number<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH, 0);
  info.image.max_height = number<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, 0);
  info.image.buffer_max_texels = number<std::size_t>(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 0);
  if (!has_extension(info.features.extensions, "cl_khr_image2d_from_buffer")) return;
  info.image.pitch_alignment_texels =
      number<cl_uint>(device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT_KHR, 0);
  info.image.from_buffer = !has_effect(info, QuirkEffect::no_image_from_buffer) &&
                           can_make_image_from_buffer(device, info.image.pitch_alignment_texels);
}

void ask_abilities(const cl::Device& device, DeviceInfo& info) {
  info.features.fp16 = has_extension(info.features.extensions, "cl_khr_fp16") &&
                       !has_effect(info, QuirkEffect::no_half);
  if (!info.features.fp16) info.compute.native_vector_f16 = 0;
  info.features.fp64 = has_extension(info.features.extensions, "cl_khr_fp64");
  const auto queue = number<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_PROPERTIES,
                                                         CL_QUEUE_PROFILING_ENABLE);
  info.features.profiling =
      (queue & CL_QUEUE_PROFILING_ENABLE) != 0 && !has_effect(info, QuirkEffect::no_event_times);
  info.features.out_of_order = (queue & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  info.features.compiler = truth(device, CL_DEVICE_COMPILER_AVAILABLE);
}

/// Whether the device says that it adds up products of bytes in one instruction.
bool has_dot_products(const cl::Device& device, const std::string& extensions) {
  if (has_extension(extensions, "cl_arm_integer_dot_product_int8")) return true;
  if (!has_extension(extensions, "cl_khr_integer_dot_product")) return false;
  // Of packed bytes: with signs, without, mixed; then the same that saturate.
  constexpr cl_device_info kAcceleration = 0x1075;
  std::array<cl_bool, 6> is_accelerated{};
  if (clGetDeviceInfo(device(), kAcceleration, sizeof is_accelerated, is_accelerated.data(),
                      nullptr) != CL_SUCCESS) {
    return false;
  }
  return is_accelerated[0] == CL_TRUE || is_accelerated[2] == CL_TRUE;
}

/// Of a CPU the system describes its cores. Of a GPU the driver tells of dot products, and NVIDIA's
/// and AMD's how many work-items run in step.
void ask_core(const cl::Device& device, DeviceInfo& info) {
  info.core = guessed_core(info);
  if (info.kind == DeviceInfo::Kind::cpu) {
    describe_core(ProcessorDescription::read(), info);
    if (info.core.dot_products && dot_products_fail(info.core.lanes)) {
      info.core.dot_products = false;
      info.core.sources["dot_products"] = "a process that tried them failed";
    }
    return;
  }
  info.core.dot_products = has_dot_products(device, info.features.extensions);
  info.core.sources["dot_products"] = "OpenCL";
  constexpr cl_device_info kWarp = 0x4003;       // CL_DEVICE_WARP_SIZE_NV
  constexpr cl_device_info kWavefront = 0x4043;  // CL_DEVICE_WAVEFRONT_WIDTH_AMD
  const auto ask = [&](const char* extension, cl_device_info question) {
    if (!has_extension(info.features.extensions, extension)) return;
    const std::int64_t lanes = number<cl_uint>(device, question, 0);
    if (lanes <= 0) return;
    info.core.lanes = lanes;
    info.core.sources["lanes"] = "OpenCL";
  };
  ask("cl_nv_device_attribute_query", kWarp);
  ask("cl_amd_device_attribute_query", kWavefront);
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
  ask_core(device, info);
  info.peaks = guessed_peaks(info);
  return info;
}

}  // namespace morton::device
