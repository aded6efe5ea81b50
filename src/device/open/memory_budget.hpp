// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/rooms.hpp"

namespace morton::device {

/// Device memory that counts as the process's for as long as the object lives.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(MemoryShare&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryShare();

  /// `bytes` more for the process; nothing where they would exceed its limit.
  [[nodiscard]] static std::optional<MemoryShare> take(std::int64_t bytes);
  /// Likewise; throws OutOfMemory, which says what the limit is and for what memory was wanted.
  [[nodiscard]] static MemoryShare require(std::int64_t bytes, const std::string& what);

 private:
  explicit MemoryShare(std::int64_t bytes) : bytes_(bytes) {}

  std::int64_t bytes_ = 0;
};

/// What device memory of the process may take, on all devices together: what was set, else what
/// MORTON_MEMORY_LIMIT says; nothing where there is no limit. Throws UsageError for a value of that
/// variable that is no number of bytes.
[[nodiscard]] std::optional<std::int64_t> memory_limit();
/// Sets the limit; what is taken already stays. Throws UsageError unless `bytes` are positive.
void set_memory_limit(std::int64_t bytes);

}  // namespace morton::device
