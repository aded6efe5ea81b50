// SPDX-License-Identifier: Apache-2.0
#include "device/use/transfer.hpp"

#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {
namespace {

void require_inside(const cl::Buffer& buffer, MappedBuffer::Range range, const std::string& what) {
  const auto size = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
  if (range.offset_bytes < 0 || range.bytes < 1 || range.bytes > size ||
      range.offset_bytes > size - range.bytes) {
    throw InternalError(what + " at " + std::to_string(range.offset_bytes) +
                        " is empty or leaves the buffer of " + std::to_string(size) + " bytes");
  }
}

cl_map_flags flags_of(MappedBuffer::Access access, const DeviceInfo& info) {
  switch (access) {
    case MappedBuffer::Access::read:
      return CL_MAP_READ;
    case MappedBuffer::Access::read_write:
      return CL_MAP_READ | CL_MAP_WRITE;
    case MappedBuffer::Access::overwrite:
      // OpenCL 1.1 does not know the flag that spares a copy from the device.
      return info.driver.device_version.starts_with("OpenCL 1.1") ? cl_map_flags{CL_MAP_WRITE}
                                                                  : CL_MAP_WRITE_INVALIDATE_REGION;
  }
  throw InternalError("mapping: no such access: " + std::to_string(static_cast<int>(access)));
}

/// Asks for the end of `event`, whose queue is flushed, and lets other threads run meanwhile. To
/// learn of the end so does not order memory, so the caller waits nevertheless, without sleeping.
void ask_for_end(const cl::Event& event, double most_us) {
  for (const Stopwatch watch; watch.microseconds() < most_us;) {
    if (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() <= CL_COMPLETE) return;
    std::this_thread::yield();
  }
}

}  // namespace

MappedBuffer::MappedBuffer(const cl::CommandQueue& queue, const DeviceInfo& info,
                           const cl::Buffer& buffer, Range range, Access access, Wait wait)
    : queue_(queue), buffer_(buffer), info_(&info) {
  const std::string what = "mapping of " + std::to_string(range.bytes) + " bytes";
  with_device_errors(what, info, [&] {
    require_inside(buffer, range, what);
    void* start = queue_.enqueueMapBuffer(
        buffer_, wait == Wait::now ? CL_TRUE : CL_FALSE, flags_of(access, info),
        static_cast<cl::size_type>(range.offset_bytes), static_cast<cl::size_type>(range.bytes));
    bytes_ = {static_cast<std::byte*>(start), static_cast<std::size_t>(range.bytes)};
  });
}

MappedBuffer::~MappedBuffer() {
  try {
    unmap();
  } catch (const DeviceError&) {
    // A destructor has nobody to tell; whoever cares calls unmap.
  }
}

void MappedBuffer::unmap() {
  if (bytes_.empty()) return;
  void* start = bytes_.data();
  bytes_ = {};
  with_device_errors("unmapping", *info_, [&] { queue_.enqueueUnmapMemObject(buffer_, start); });
}

void write_buffer(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
                  std::int64_t offset_bytes, std::span<const std::byte> from) {
  if (from.empty()) return;
  const MappedBuffer::Range range{offset_bytes, static_cast<std::int64_t>(from.size())};
  if (info.memory.is_unified) {
    MappedBuffer mapped(queue, info, buffer, range, MappedBuffer::Access::overwrite);
    std::memcpy(mapped.bytes().data(), from.data(), from.size());
    mapped.unmap();
    return;
  }
  const std::string what = "writing " + std::to_string(range.bytes) + " bytes";
  with_device_errors(what, info, [&] {
    require_inside(buffer, range, what);
    queue.enqueueWriteBuffer(buffer, CL_TRUE, static_cast<cl::size_type>(offset_bytes), from.size(),
                             from.data());
  });
}

void read_buffer(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
                 std::int64_t offset_bytes, std::span<std::byte> to) {
  if (to.empty()) return;
  const MappedBuffer::Range range{offset_bytes, static_cast<std::int64_t>(to.size())};
  if (info.memory.is_unified) {
    MappedBuffer mapped(queue, info, buffer, range, MappedBuffer::Access::read);
    std::memcpy(to.data(), mapped.bytes().data(), to.size());
    mapped.unmap();
    return;
  }
  const std::string what = "reading " + std::to_string(range.bytes) + " bytes";
  with_device_errors(what, info, [&] {
    require_inside(buffer, range, what);
    queue.enqueueReadBuffer(buffer, CL_TRUE, static_cast<cl::size_type>(offset_bytes), to.size(),
                            to.data());
  });
}

void enqueue_write(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
                   std::span<const std::byte> from, cl::Event* written) {
  if (from.empty()) return;
  const std::string what = "writing " + std::to_string(from.size()) + " bytes";
  with_device_errors(what, info, [&] {
    require_inside(buffer, {0, static_cast<std::int64_t>(from.size())}, what);
    queue.enqueueWriteBuffer(buffer, CL_FALSE, 0, from.size(), from.data(), nullptr, written);
  });
}

void StagedWrite::enqueue(const cl::CommandQueue& queue, const DeviceInfo& info,
                          const cl::Buffer& buffer, std::span<const std::byte> from) {
  if (written_() != nullptr) {
    with_device_errors("waiting for a write", info, [&] { written_.wait(); });
  }
  bytes_.assign(from.begin(), from.end());
  enqueue_write(queue, info, buffer, bytes_, &written_);
}

void read_buffers(const cl::CommandQueue& queue, const DeviceInfo& info,
                  std::span<const BufferRead> reads, double asking_us) {
  // Whatever fails, nothing is on its way to the caller's memory afterwards.
  bool waits = false;
  cl::Event last;
  const auto wait = [&] {
    if (!std::exchange(waits, false)) return;
    with_device_errors("reading", info, [&] {
      if (last() != nullptr) {
        queue.flush();
        ask_for_end(last, asking_us);
      }
      queue.finish();
    });
  };
  try {
    for (const BufferRead& read : reads) {
      const auto bytes = static_cast<std::int64_t>(read.to.size());
      if (bytes > kStagedBytes) read_buffer(queue, info, read.buffer, 0, read.to);
      if (bytes == 0 || bytes > kStagedBytes) continue;
      const std::string what = "reading " + std::to_string(bytes) + " bytes";
      with_device_errors(what, info, [&] {
        require_inside(read.buffer, {0, bytes}, what);
        queue.enqueueReadBuffer(read.buffer, CL_FALSE, 0, read.to.size(), read.to.data(), nullptr,
                                asking_us > 0.0 ? &last : nullptr);
      });
      waits = true;
    }
  } catch (...) {
    try {
      wait();
    } catch (const DeviceError&) {
      // What failed first is what is told.
    }
    throw;
  }
  wait();
}

}  // namespace morton::device
