// SPDX-License-Identifier: Apache-2.0
#include "device/use/pinned_write.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "device/open/opencl_device.hpp"

namespace morton::device {
namespace {

/// Bytes that a thread copies at a time, and those that one write takes: each costs 10 us.
constexpr std::size_t kPieceBytes = std::size_t{256} << 10, kWriteBytes = std::size_t{2} << 20;
/// Threads that copy, the caller among them. More took as long, on 16 processors.
constexpr unsigned kThreads = 4;

/// Copies memory in pieces, which any number of threads take one after another.
class PiecewiseCopy {
 public:
  PiecewiseCopy(std::span<const std::byte> from, std::span<std::byte> to)
      : from_(from), to_(to), copied_((from.size() + kPieceBytes - 1) / kPieceBytes) {}

  /// Copies the next piece; false where none is left.
  bool copy_next() {
    const std::size_t piece = next_.fetch_add(1);
    if (piece >= copied_.size()) return false;
    const std::size_t begin = piece * kPieceBytes;
    const std::size_t bytes = std::min(kPieceBytes, from_.size() - begin);
    std::memcpy(to_.data() + begin, from_.data() + begin, bytes);
    copied_[piece].store(true, std::memory_order_release);
    return true;
  }
  /// Lets no further piece be taken.
  void stop() { next_.store(copied_.size()); }
  /// The bytes at the beginning that are copied.
  std::size_t ready() {
    while (whole_ < copied_.size() && copied_[whole_].load(std::memory_order_acquire)) ++whole_;
    return std::min(whole_ * kPieceBytes, from_.size());
  }

 private:
  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  std::vector<std::atomic<bool>> copied_;  ///< by piece
  std::atomic<std::size_t> next_{0};
  std::size_t whole_ = 0;  ///< pieces that `ready` has counted
};

/// Helpers of the calling thread, which end before this object does.
class Helpers {
 public:
  explicit Helpers(PiecewiseCopy& copy) : copy_(copy) {
    try {
      while (threads_.size() + 1 < kThreads) {
        threads_.emplace_back([&copy] {
          while (copy.copy_next()) {
          }
        });
      }
    } catch (const std::system_error&) {
      // Those that began, and the caller, do it.
    }
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() { copy_.stop(); }

 private:
  PiecewiseCopy& copy_;
  std::vector<std::jthread> threads_;
};

/// Enqueues writes of `bytes` as they are copied there; `written` is the last one's end.
void send(const cl::CommandQueue& queue, const cl::Buffer& buffer, PiecewiseCopy& copy,
          std::span<const std::byte> bytes, cl::Event& written) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    if (!copy.copy_next()) std::this_thread::yield();
    const std::size_t ready = copy.ready();
    if (ready - sent < kWriteBytes && ready < bytes.size()) continue;
    queue.enqueueWriteBuffer(buffer, CL_FALSE, sent, ready - sent, bytes.data() + sent, nullptr,
                             ready == bytes.size() ? &written : nullptr);
    queue.flush();
    sent = ready;
  }
}

}  // namespace

bool PinnedWrite::pays(const DeviceInfo& info, std::int64_t bytes) {
  constexpr std::int64_t kLeast = std::int64_t{4} << 20;
  // The memory stays with the session.
  constexpr std::int64_t kMost = std::int64_t{256} << 20;
  const bool has_own = info.kind == DeviceInfo::Kind::gpu && !info.memory.is_unified;
  return has_own && bytes >= kLeast && bytes <= kMost &&
         std::thread::hardware_concurrency() >= kThreads;
}

void PinnedWrite::enqueue(const cl::CommandQueue& queue, const DeviceInfo& info,
                          const cl::Buffer& buffer, std::span<const std::byte> from) {
  if (from.empty()) return;
  const auto bytes = static_cast<std::int64_t>(from.size());
  with_device_errors("writing " + std::to_string(bytes) + " bytes", info, [&] {
    if (written_() != nullptr) written_.wait();
    if (!memory_ || memory_->bytes().size() < from.size()) {
      const cl::Buffer pinned(queue.getInfo<CL_QUEUE_CONTEXT>(),
                              CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, from.size());
      memory_.emplace(queue, info, pinned, MappedBuffer::Range{0, bytes},
                      MappedBuffer::Access::read_write);
    }
    const std::span<std::byte> to = memory_->bytes().first(from.size());
    PiecewiseCopy copy(from, to);
    const Helpers helpers(copy);
    try {
      send(queue, buffer, copy, to, written_);
    } catch (...) {
      // The next call writes to the memory that the device may still read.
      queue.finish();
      throw;
    }
  });
}

}  // namespace morton::device
