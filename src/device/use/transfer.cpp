// SPDX-License-Identifier: Apache-2.0
#include "device/use/transfer.hpp"

#include <array>
#include <cstring>
#include <string>
#include <thread>

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
    const cl_int status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
    if (status < 0) throw cl::Error(status, "a command");
    if (status == CL_COMPLETE) return;
    std::this_thread::yield();
  }
}

using Triple = std::array<cl::size_type, 3>;

/// Bytes in the host's memory or a buffer as OpenCL's rectangles take them: a row is a stretch.
struct Rectangle {
  Triple origin{};
  cl::size_type pitch = 0;
};

Rectangle rectangle_of(const Stretches& stretches) {
  return {{static_cast<cl::size_type>(stretches.offset_bytes), 0, 0},
          static_cast<cl::size_type>(stretches.pitch_bytes)};
}

Triple region_of(const Stretches& stretches) {
  return {static_cast<cl::size_type>(stretches.bytes), static_cast<cl::size_type>(stretches.count),
          1};
}

std::string text_of(const std::string& action, const Stretches& stretches) {
  return action + " " + std::to_string(stretches.count) + " stretches of " +
         std::to_string(stretches.bytes) + " bytes";
}

void require_fits(const cl::Buffer& buffer, const Stretches& stretches, const std::string& what) {
  const auto size = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
  const bool apart = stretches.count == 1 || stretches.pitch_bytes >= stretches.bytes;
  if (stretches.offset_bytes >= 0 && stretches.bytes >= 1 && stretches.count >= 1 && apart &&
      stretches.offset_bytes + stretches.span_bytes() <= size) {
    return;
  }
  throw InternalError(what + " at " + std::to_string(stretches.offset_bytes) + " every " +
                      std::to_string(stretches.pitch_bytes) + " overlap or leave the buffer of " +
                      std::to_string(size) + " bytes");
}

void require_all(const Stretches& stretches, std::size_t bytes, const std::string& what) {
  if (static_cast<std::size_t>(stretches.all_bytes()) == bytes) return;
  throw InternalError(what + " with " + std::to_string(bytes) + " bytes on the host");
}

/// Reads that the host has not waited for. Whatever fails, nothing is on its way to the caller's
/// memory afterwards: the end of this waits, and takes no memory for it.
class UnfinishedReads {
 public:
  explicit UnfinishedReads(const cl::CommandQueue& queue) : queue_(queue) {}
  ~UnfinishedReads() {
    // Where this fails the context is dead, and nothing comes any more.
    if (any_) static_cast<void>(::clFinish(queue_()));
  }
  UnfinishedReads(const UnfinishedReads&) = delete;
  UnfinishedReads& operator=(const UnfinishedReads&) = delete;

  void began() { any_ = true; }
  void ended() { any_ = false; }
  [[nodiscard]] bool any() const { return any_; }

 private:
  const cl::CommandQueue& queue_;
  bool any_ = false;
};

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

void write_stretches(const cl::CommandQueue& queue, const DeviceInfo& info,
                     const cl::Buffer& buffer, const Stretches& to,
                     std::span<const std::byte> from) {
  const std::string what = text_of("writing", to);
  require_all(to, from.size(), what);
  if (to.is_one()) return write_buffer(queue, info, buffer, to.offset_bytes, from);
  with_device_errors(what, info, [&] { require_fits(buffer, to, what); });
  const auto bytes = static_cast<std::size_t>(to.bytes);
  if (info.memory.is_unified) {
    // What lies between the stretches stays, so the mapping may not overwrite.
    MappedBuffer mapped(queue, info, buffer, {to.offset_bytes, to.span_bytes()},
                        MappedBuffer::Access::read_write);
    for (std::size_t i = 0; i < static_cast<std::size_t>(to.count); ++i) {
      std::memcpy(mapped.bytes().data() + i * static_cast<std::size_t>(to.pitch_bytes),
                  from.data() + i * bytes, bytes);
    }
    mapped.unmap();
    return;
  }
  with_device_errors(what, info, [&] {
    const Rectangle there = rectangle_of(to);
    queue.enqueueWriteBufferRect(buffer, CL_TRUE, there.origin, Triple{}, region_of(to),
                                 there.pitch, 0, bytes, 0, from.data());
  });
}

void read_stretches(const cl::CommandQueue& queue, const DeviceInfo& info, const cl::Buffer& buffer,
                    const Stretches& from, std::span<std::byte> to) {
  const std::string what = text_of("reading", from);
  require_all(from, to.size(), what);
  if (from.is_one()) return read_buffer(queue, info, buffer, from.offset_bytes, to);
  with_device_errors(what, info, [&] { require_fits(buffer, from, what); });
  const auto bytes = static_cast<std::size_t>(from.bytes);
  if (info.memory.is_unified) {
    MappedBuffer mapped(queue, info, buffer, {from.offset_bytes, from.span_bytes()},
                        MappedBuffer::Access::read);
    for (std::size_t i = 0; i < static_cast<std::size_t>(from.count); ++i) {
      std::memcpy(to.data() + i * bytes,
                  mapped.bytes().data() + i * static_cast<std::size_t>(from.pitch_bytes), bytes);
    }
    mapped.unmap();
    return;
  }
  with_device_errors(what, info, [&] {
    const Rectangle there = rectangle_of(from);
    queue.enqueueReadBufferRect(buffer, CL_TRUE, there.origin, Triple{}, region_of(from),
                                there.pitch, 0, bytes, 0, to.data());
  });
}

void enqueue_copy(const cl::CommandQueue& queue, const DeviceInfo& info,
                  const BufferStretches& from, const BufferStretches& to) {
  const std::string what = text_of("copying", from.stretches);
  require_all(from.stretches, static_cast<std::size_t>(to.stretches.all_bytes()), what);
  with_device_errors(what, info, [&] {
    require_fits(from.buffer, from.stretches, what);
    require_fits(to.buffer, to.stretches, what);
    const Rectangle source = rectangle_of(from.stretches);
    const Rectangle target = rectangle_of(to.stretches);
    if (from.stretches.is_one() && to.stretches.is_one()) {
      queue.enqueueCopyBuffer(from.buffer, to.buffer, source.origin[0], target.origin[0],
                              static_cast<cl::size_type>(from.stretches.all_bytes()));
      return;
    }
    queue.enqueueCopyBufferRect(from.buffer, to.buffer, source.origin, target.origin,
                                region_of(from.stretches), source.pitch, 0, target.pitch, 0);
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
  UnfinishedReads unfinished(queue);
  cl::Event last;
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
    unfinished.began();
  }
  if (!unfinished.any()) return;
  with_device_errors("reading", info, [&] {
    if (last() != nullptr) {
      queue.flush();
      ask_for_end(last, asking_us);
    }
    queue.finish();
    unfinished.ended();
  });
}

}  // namespace morton::device
