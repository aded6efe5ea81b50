// SPDX-License-Identifier: Apache-2.0
#include "device/open/memory_pool.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "device/open/memory_budget.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {
namespace {

/// Smallest block, and the step below which sizes do not differ: a page.
constexpr std::int64_t kPageBytes = 4096;
/// A free block serves a request of at least this part of its size (1/2).
constexpr std::int64_t kMaxWaste = 2;

bool is_out_of_memory(int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
         code == CL_OUT_OF_HOST_MEMORY;
}

/// A kernel takes a null buffer for memory at address 0, so a driver that says that it made one and
/// did not is not believed.
void require_made(const cl::Buffer& buffer, const char* function) {
  if (buffer() == nullptr) throw cl::Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, function);
}

}  // namespace

/// Memory of the driver's, which counts as the process's until it goes back there.
struct MemoryPool::PooledBuffer {
  cl::Buffer buffer;
  MemoryShare share;
};

/// What the pool and all of its blocks share; lives until the last of them dies.
struct MemoryPool::Store {
  Store(cl::Context the_context, const DeviceInfo& the_info)
      : context(std::move(the_context)), info(the_info) {}

  /// Memory of `bytes` from the free ones or the driver; `mutex` is held.
  PooledBuffer take(std::int64_t& bytes);
  PooledBuffer make(std::int64_t bytes);
  void give_back(PooledBuffer memory, std::int64_t bytes);
  /// Gives free blocks back to the driver; `mutex` is held.
  void drop_free_blocks();
  /// Throws DeviceError where `bytes` are too many for one block, or `size` more than is left;
  /// `mutex` is held.
  void require_room(std::int64_t bytes, std::int64_t size) const;

  const cl::Context context;
  const DeviceInfo info;
  mutable std::mutex mutex;
  std::multimap<std::int64_t, PooledBuffer> free_blocks;
  std::int64_t used = 0, peak = 0, idle = 0;
};

struct Block::Lease {
  Lease(std::shared_ptr<MemoryPool::Store> the_store, MemoryPool::PooledBuffer the_memory,
        std::int64_t size, std::shared_ptr<const void> the_owner)
      : store(std::move(the_store)),
        owner(std::move(the_owner)),
        memory(std::move(the_memory)),
        bytes(size) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (owner == nullptr) {
      store->give_back(std::move(memory), bytes);
      return;
    }
    const std::lock_guard lock(store->mutex);
    store->used -= bytes;
  }

  std::shared_ptr<MemoryPool::Store> store;
  std::shared_ptr<const void> owner;  ///< of memory that is the host's, else null
  MemoryPool::PooledBuffer memory;
  std::int64_t bytes;
};

void MemoryPool::Store::require_room(std::int64_t bytes, std::int64_t size) const {
  if (bytes > info.memory.max_allocation_bytes) {
    throw DeviceError("device memory: asked for one block of " + std::to_string(bytes) +
                      " bytes, but " + info.name + " gives at most " +
                      std::to_string(info.memory.max_allocation_bytes) +
                      " at once; use a smaller batch or another device");
  }
  if (size > info.memory.global_bytes - used) {
    throw DeviceError("device memory: asked for " + std::to_string(bytes) + " bytes while " +
                      std::to_string(used) + " of the " + std::to_string(info.memory.global_bytes) +
                      " bytes of " + info.name +
                      " are in use; use a smaller batch or free sessions");
  }
}

void MemoryPool::Store::drop_free_blocks() {
  free_blocks.clear();
  idle = 0;
}

MemoryPool::PooledBuffer MemoryPool::Store::take(std::int64_t& bytes) {
  const auto reusable = free_blocks.lower_bound(bytes);
  if (reusable != free_blocks.end() && reusable->first / kMaxWaste <= bytes) {
    PooledBuffer memory = std::move(reusable->second);
    bytes = reusable->first;
    idle -= bytes;
    free_blocks.erase(reusable);
    return memory;
  }
  if (used + idle + bytes > info.memory.global_bytes) drop_free_blocks();
  return make(bytes);
}

MemoryPool::PooledBuffer MemoryPool::Store::make(std::int64_t bytes) {
  // Where host and device share memory this lets both see it without a copy.
  const cl_mem_flags flags =
      CL_MEM_READ_WRITE | (info.memory.is_unified ? CL_MEM_ALLOC_HOST_PTR : cl_mem_flags{0});
  std::optional<MemoryShare> share = MemoryShare::take(bytes);
  if (!share) {
    drop_free_blocks();
    share = MemoryShare::require(bytes, "device memory");
  }
  const auto attempt = [&] {
    cl::Buffer buffer(context, flags, static_cast<std::size_t>(bytes));
    require_made(buffer, "clCreateBuffer");
    return PooledBuffer{std::move(buffer), std::move(*share)};
  };
  if (!free_blocks.empty()) {
    try {
      return attempt();
    } catch (const cl::Error& error) {
      if (!is_out_of_memory(error.err())) throw;
      drop_free_blocks();
    }
  }
  return attempt();
}

void MemoryPool::Store::give_back(PooledBuffer memory, std::int64_t bytes) {
  const std::lock_guard lock(mutex);
  used -= bytes;
  try {
    free_blocks.emplace(bytes, std::move(memory));
    idle += bytes;
  } catch (const std::bad_alloc&) {
    // Without memory for the list's node the buffer goes back to the driver; destructors call this.
  }
}

const cl::Buffer& Block::buffer() const {
  if (lease_ == nullptr) throw InternalError("memory block: it is empty, nothing was allocated");
  return lease_->memory.buffer;
}

std::int64_t Block::bytes() const { return lease_ == nullptr ? 0 : lease_->bytes; }

cl::Buffer Block::slice(std::int64_t offset_bytes, std::int64_t bytes) const {
  cl::Buffer whole = buffer();
  const DeviceInfo& info = lease_->store->info;
  const std::int64_t alignment = info.memory.base_alignment_bytes;
  if (offset_bytes < 0 || bytes < 1 || bytes > lease_->bytes ||
      offset_bytes > lease_->bytes - bytes) {
    throw InternalError("memory block: the slice of " + std::to_string(bytes) + " bytes at " +
                        std::to_string(offset_bytes) + " is empty or leaves the block of " +
                        std::to_string(lease_->bytes) + " bytes");
  }
  if (offset_bytes % alignment != 0) {
    throw InternalError("memory block: the slice at byte " + std::to_string(offset_bytes) +
                        " does not lie at a multiple of " + std::to_string(alignment) +
                        ", as sub-buffers must on " + info.name);
  }
  cl::Buffer part;
  with_device_errors("slice of " + std::to_string(bytes) + " bytes", info, [&] {
    const cl_buffer_region region{static_cast<std::size_t>(offset_bytes),
                                  static_cast<std::size_t>(bytes)};
    part = whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
    require_made(part, "clCreateSubBuffer");
  });
  return part;
}

MemoryPool::MemoryPool(cl::Context context, const DeviceInfo& info)
    : store_(std::make_shared<Store>(std::move(context), info)) {}

MemoryPool::~MemoryPool() = default;

Block MemoryPool::allocate(std::int64_t bytes) {
  if (bytes < 0) {
    throw InternalError("device memory: asked for " + std::to_string(bytes) + " bytes");
  }
  // Rounded up so that blocks fit more than one request, unless that crosses the limit.
  const DeviceInfo& info = store_->info;
  const std::int64_t least = std::max<std::int64_t>(bytes, 1);
  const std::int64_t most = info.memory.max_allocation_bytes;
  std::int64_t size = least > most - most % kPageBytes ? least : round_up(least, kPageBytes);

  const std::lock_guard lock(store_->mutex);
  store_->require_room(bytes, size);
  PooledBuffer memory;
  with_device_errors("device memory: block of " + std::to_string(bytes) + " bytes", info,
                     [&] { memory = store_->take(size); });
  return take_over(std::move(memory), size, nullptr);
}

Block MemoryPool::over(std::span<const std::byte> memory, std::shared_ptr<const void> owner) {
  const auto bytes = static_cast<std::int64_t>(memory.size());
  const std::lock_guard lock(store_->mutex);
  store_->require_room(bytes, bytes);
  PooledBuffer pooled{{}, MemoryShare::require(bytes, "device memory")};
  with_device_errors("device memory: block over " + std::to_string(bytes) + " bytes of the host",
                     store_->info, [&] {
                       pooled.buffer =
                           cl::Buffer(store_->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                      memory.size(), const_cast<std::byte*>(memory.data()));
                       require_made(pooled.buffer, "clCreateBuffer");
                     });
  return take_over(std::move(pooled), bytes, std::move(owner));
}

Block MemoryPool::take_over(PooledBuffer memory, std::int64_t bytes,
                            std::shared_ptr<const void> owner) {
  Block block;
  block.lease_ = std::make_shared<Block::Lease>(store_, std::move(memory), bytes, std::move(owner));
  store_->used += bytes;
  store_->peak = std::max(store_->peak, store_->used);
  return block;
}

std::int64_t MemoryPool::used_bytes() const {
  const std::lock_guard lock(store_->mutex);
  return store_->used;
}

std::int64_t MemoryPool::peak_bytes() const {
  const std::lock_guard lock(store_->mutex);
  return store_->peak;
}

void MemoryPool::trim() {
  const std::lock_guard lock(store_->mutex);
  store_->drop_free_blocks();
}

}  // namespace morton::device
