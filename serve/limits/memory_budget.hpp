// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace morton::serve {

/// Bytes that requests may hold together. Threads may share it.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::int64_t bytes) : left_(bytes) {}

  /// Takes the bytes, 0 or more; false where they are not left.
  [[nodiscard]] bool take(std::int64_t bytes) {
    if (bytes < 0) return false;
    if (left_.fetch_sub(bytes) >= bytes) return true;
    left_.fetch_add(bytes);
    return false;
  }
  void give_back(std::int64_t bytes) { left_.fetch_add(bytes); }

 private:
  std::atomic<std::int64_t> left_;
};

/// Less memory is left than a request needs.
class MemoryShort : public std::runtime_error {
 public:
  MemoryShort()
      : std::runtime_error("other requests take all memory that requests may (--max-memory)") {}
};

/// What one request and its reply hold of a budget; given back at the end. One thread at a time
/// uses it.
class HeldMemory {
 public:
  explicit HeldMemory(MemoryBudget& budget) : budget_(budget) {}
  ~HeldMemory() { release(); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  /// Holds so many bytes more, 0 or more; false where they are not left.
  [[nodiscard]] bool take(std::int64_t bytes) {
    if (!budget_.take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  /// As `take`. Throws MemoryShort where they are not left.
  void need(std::size_t bytes) {
    if (!take(static_cast<std::int64_t>(bytes))) throw MemoryShort();
  }
  /// Holds so many bytes less.
  void give_back(std::size_t bytes) {
    bytes_ -= static_cast<std::int64_t>(bytes);
    budget_.give_back(static_cast<std::int64_t>(bytes));
  }
  void release() { budget_.give_back(std::exchange(bytes_, 0)); }

 private:
  MemoryBudget& budget_;
  std::int64_t bytes_ = 0;
};

}  // namespace morton::serve
