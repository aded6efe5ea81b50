// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {
namespace {

/// CL_PLATFORM_NOT_FOUND_KHR of the loader, and NVIDIA's answer after an illegal access.
constexpr int kNoPlatform = -1001;
constexpr int kContextDied = -9999;

constexpr std::pair<int, std::string_view> kNames[] = {
    {0, "CL_SUCCESS"},
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-9, "CL_IMAGE_FORMAT_MISMATCH"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    {-40, "CL_INVALID_IMAGE_SIZE"},
    {-41, "CL_INVALID_SAMPLER"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-67, "CL_INVALID_LINKER_OPTIONS"},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    {kNoPlatform, "CL_PLATFORM_NOT_FOUND_KHR"},
    {kContextDied, "illegal access, the context is dead"},
};

/// What the caller can do about an error, or nothing.
std::string advice_for(int code) {
  if (code == kContextDied || code == CL_OUT_OF_RESOURCES) {
    return "; if a kernel touched memory outside its buffers, the context is lost and nothing more "
           "can run in this process: start it again";
  }
  if (code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_CONTEXT ||
      code == CL_INVALID_COMMAND_QUEUE) {
    return "; the device no longer answers: what was there is lost. Open it again, or go on on "
           "another device "
           "(a session moves there, a training resumes from its checkpoint)";
  }
  if (code == kNoPlatform) return "; no OpenCL driver is installed";
  return "";
}

}  // namespace

std::string opencl_error_text(int code) {
  std::string_view name = "unknown error";
  for (const auto& [number, text] : kNames) {
    if (number == code) name = text;
  }
  return std::string(name) + " (" + std::to_string(code) + ")";
}

void with_device_errors(const std::string& what, const DeviceInfo& info,
                        const std::function<void()>& call) {
  try {
    call();
  } catch (const cl::Error& error) {
    const char* function = error.what() == nullptr ? "OpenCL" : error.what();
    const std::string text = what + ": " + function + " returned " +
                             opencl_error_text(error.err()) + " on " + info.name +
                             advice_for(error.err());
    if (error.err() == CL_MEM_OBJECT_ALLOCATION_FAILURE || error.err() == CL_OUT_OF_HOST_MEMORY) {
      throw OutOfMemory(text);
    }
    throw DeviceError(text);
  }
}

}  // namespace morton::device
