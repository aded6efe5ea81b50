// SPDX-License-Identifier: Apache-2.0
#include "common/device_buffers.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>

#include "morton/error.hpp"

namespace morton::cli {

namespace {

// Of cl.h, version 1.2; the loader is in the process already.
struct OpenClCalls {
  using Size = std::size_t;
  int (*get_context_info)(cl_context, std::uint32_t what, Size, void*, Size*);
  cl_mem (*create_buffer)(cl_context, std::uint64_t flags, Size, void*, int* status);
  cl_command_queue (*create_queue)(cl_context, cl_device_id, std::uint64_t properties, int* status);
  int (*write_buffer)(cl_command_queue, cl_mem, std::uint32_t blocking, Size offset, Size,
                      const void*, std::uint32_t, const void*, void*);
  int (*read_buffer)(cl_command_queue, cl_mem, std::uint32_t blocking, Size offset, Size, void*,
                     std::uint32_t, const void*, void*);
  int (*finish)(cl_command_queue);
  int (*release_buffer)(cl_mem);
  int (*release_queue)(cl_command_queue);
};

constexpr std::uint32_t kContextDevices = 0x1081;
constexpr std::uint64_t kReadWrite = 1;

template <typename Function>
void load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(fmt::format("the OpenCL loader has no {}", name));
}

OpenClCalls load_calls() {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw DeviceError(fmt::format("the OpenCL loader: {}", dlerror()));
  OpenClCalls calls{};
  load(library, "clGetContextInfo", calls.get_context_info);
  load(library, "clCreateBuffer", calls.create_buffer);
  load(library, "clCreateCommandQueue", calls.create_queue);
  load(library, "clEnqueueWriteBuffer", calls.write_buffer);
  load(library, "clEnqueueReadBuffer", calls.read_buffer);
  load(library, "clFinish", calls.finish);
  load(library, "clReleaseMemObject", calls.release_buffer);
  load(library, "clReleaseCommandQueue", calls.release_queue);
  return calls;
}

const OpenClCalls& calls() {
  static const OpenClCalls kCalls = load_calls();
  return kCalls;
}

void require_success(int status, const char* call) {
  if (status == 0) return;
  throw DeviceError(fmt::format("{} returned {} (cl.h names the status)", call, status));
}

}  // namespace

DeviceMemory::DeviceMemory(const Device& device)
    : context_(context_of(device)), device_(nullptr), owner_(device) {
  // A context of Morton's own has one device; a caller's is not used here.
  require_success(calls().get_context_info(context_, kContextDevices, sizeof(device_),
                                           static_cast<void*>(&device_), nullptr),
                  "clGetContextInfo");
}

DeviceBuffer DeviceMemory::allocate(std::size_t bytes) const {
  int status = 0;
  cl_mem buffer = calls().create_buffer(context_, kReadWrite, bytes, nullptr, &status);
  require_success(status, "clCreateBuffer");
  return {buffer, [](cl_mem held) { calls().release_buffer(held); }};
}

DeviceQueue DeviceMemory::make_queue() const {
  int status = 0;
  cl_command_queue queue = calls().create_queue(context_, device_, 0, &status);
  require_success(status, "clCreateCommandQueue");
  return {queue, [](cl_command_queue held) { calls().release_queue(held); }};
}

void DeviceMemory::write(const DeviceQueue& queue, const DeviceBuffer& buffer,
                         std::span<const std::byte> bytes) {
  require_success(calls().write_buffer(queue.get(), buffer.get(), 1, 0, bytes.size(), bytes.data(),
                                       0, nullptr, nullptr),
                  "clEnqueueWriteBuffer");
}

void DeviceMemory::read(const DeviceQueue& queue, const DeviceBuffer& buffer,
                        std::span<std::byte> bytes) {
  require_success(calls().read_buffer(queue.get(), buffer.get(), 1, 0, bytes.size(), bytes.data(),
                                      0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
}

void DeviceMemory::finish(const DeviceQueue& queue) {
  require_success(calls().finish(queue.get()), "clFinish");
}

}  // namespace morton::cli
