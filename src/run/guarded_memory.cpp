// SPDX-License-Identifier: Apache-2.0
#include "run/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/numbers/checked.hpp"
#include "device/use/transfer.hpp"

namespace morton::run {
namespace {

constexpr std::int64_t kGuardBytes = 1024;
/// Of addresses that nothing may touch, on either side.
constexpr std::int64_t kFenceBytes = std::int64_t{1} << 20;

/// Byte `i` of a guard: as f32 a NaN too, but another one.
std::byte guard_byte(std::size_t i) {
  constexpr std::byte kPattern[] = {std::byte{0xA5}, std::byte{0xA5}, std::byte{0xC5},
                                    std::byte{0x7F}};
  return kPattern[i % 4];
}

void write_guard(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = guard_byte(i);
}

bool is_guard(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != guard_byte(i)) return false;
  }
  return true;
}

bool computes_in_host_memory(const DeviceInfo& info) {
  return info.kind == DeviceInfo::Kind::cpu && info.memory.is_unified;
}

/// Oclgrind 21.10 gives a released buffer's address to the next one, and calls what lies beyond the
/// first one's size uninitialised for ever. So no buffer that it watches is released, not even at
/// the end, when the simulator may be gone.
void keep_its_address(const cl::Buffer& buffer) {
  static auto* const kept = new std::vector<cl::Buffer>;
  kept->push_back(buffer);
}

}  // namespace

/// Memory between pages that nothing may touch. It ends at the upper ones, but for what the
/// alignment leaves.
class GuardedMemory::Pages {
 public:
  /// `wanted` bytes that begin at a multiple of `alignment`, a power of two up to a page.
  Pages(std::int64_t wanted, std::int64_t alignment) {
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    const std::int64_t used = round_up(wanted, page);
    mapped_ = static_cast<std::size_t>(used + 2 * kFenceBytes);
    void* const memory =
        ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    const auto size = static_cast<std::size_t>(used);
    if (::mprotect(memory_ + kFenceBytes, size, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(memory_, mapped_);
      throw std::bad_alloc();
    }
    all_ = {memory_ + kFenceBytes, size};
    front_ = used - round_up(wanted, alignment);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(memory_, mapped_); }

  /// All that may be touched, and how much of it lies before the bytes that were wanted.
  [[nodiscard]] std::span<std::byte> all() const { return all_; }
  [[nodiscard]] std::int64_t front() const { return front_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t mapped_ = 0;
  std::span<std::byte> all_;
  std::int64_t front_ = 0;
};

GuardedMemory::GuardedMemory(const OpenClDevice& device, const cl::CommandQueue& queue,
                             std::int64_t bytes, Surroundings surroundings, Start start)
    : bytes_(std::max<std::int64_t>(bytes, 1)) {
  const DeviceInfo& info = device.info();
  const auto size = static_cast<std::size_t>(bytes_);
  if (surroundings == Surroundings::nothing) {
    value_ = whole_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE, size);
    keep_its_address(whole_);
    return;
  }
  if (computes_in_host_memory(info)) {
    pages_ = std::make_shared<Pages>(bytes_, info.memory.base_alignment_bytes);
    const std::span<std::byte> all = pages_->all();
    front_ = pages_->front();
    back_ = static_cast<std::int64_t>(all.size()) - front_ - bytes_;
    const auto front = static_cast<std::size_t>(front_);
    write_guard(all.first(front));
    std::ranges::fill(all.subspan(front, size), kPoison);
    write_guard(all.subspan(front + size));
    value_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size,
                        all.data() + front);
    return;
  }
  back_ = round_up(kGuardBytes, info.memory.base_alignment_bytes);
  front_ = start == Start::of_block ? 0 : back_;
  const auto front = static_cast<std::size_t>(front_);
  std::vector<std::byte> content(front + size + static_cast<std::size_t>(back_), kPoison);
  write_guard(std::span(content).first(front));
  write_guard(std::span(content).subspan(front + size));
  whole_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE, content.size());
  write_buffer(queue, info, whole_, 0, content);
  const cl_buffer_region region{front, size};
  value_ = whole_.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
}

std::string GuardedMemory::damage(const OpenClDevice& device, const cl::CommandQueue& queue) const {
  if (back_ + front_ == 0) return {};
  std::vector<std::byte> read;
  std::span<const std::byte> all;
  if (pages_ != nullptr) {
    queue.finish();
    all = pages_->all();
  } else {
    read.resize(static_cast<std::size_t>(front_ + bytes_ + back_));
    read_buffer(queue, device.info(), whole_, 0, read);
    all = read;
  }
  if (!is_guard(all.first(static_cast<std::size_t>(front_)))) return "written below its memory";
  if (!is_guard(all.last(static_cast<std::size_t>(back_)))) return "written above its memory";
  return {};
}

}  // namespace morton::run
