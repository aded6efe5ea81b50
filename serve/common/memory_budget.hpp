// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

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

}  // namespace morton::serve
