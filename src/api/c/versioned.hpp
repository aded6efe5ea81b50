// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "api/c/guarded.hpp"

namespace morton::api {

/// Throws UsageError for what cannot be the size of a struct of the interface for C: that of one
/// which nobody has filled in.
inline void require_size(std::size_t size, const char* what, const char* advice) {
  constexpr std::size_t kLargest = 4096;
  if (size >= sizeof size && size <= kLargest) return;
  throw UsageError(std::string(what) + ": its size is not set; " + advice);
}

/// Structs of the interface for C begin with the size that the caller's header gives them. A
/// library may know more members, which then hold what `otherwise` says; or fewer, and then what it
/// does not know must be zero.
template <typename T>
T read_versioned(const T* from, const T& otherwise, const char* what) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, size) == 0);
  if (from == nullptr) return otherwise;
  std::size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  require_size(size, what, "call its _init first");
  const auto* bytes = reinterpret_cast<const char*>(from);
  if (std::any_of(bytes + std::min(size, sizeof(T)), bytes + size,
                  [](char byte) { return byte != 0; })) {
    throw UsageError(std::string(what) + ": has members that this library, version " +
                     morton_version() + ", does not know");
  }
  T value = otherwise;
  std::memcpy(&value, from, std::min(size, sizeof(T)));
  return value;
}

/// Fills as much of the caller's struct as both know; the rest is zero. Its size stays.
template <typename T>
void write_versioned(T* to, std::size_t size, const T& value, const char* what) {
  given(to, what);
  require_size(size, what, "it is sizeof the struct");
  std::memset(static_cast<void*>(to), 0, size);
  std::memcpy(static_cast<void*>(to), &value, std::min(size, sizeof(T)));
  std::memcpy(static_cast<void*>(to), &size, sizeof size);
}

/// The same for a struct whose size the caller has set.
template <typename T>
void write_versioned(T* to, const T& value, const char* what) {
  write_versioned(to, given(to, what).size, value, what);
}

/// Throws UsageError unless a flag is 0 or 1.
inline bool flag(std::int32_t value, const char* what) {
  if (value == 0 || value == 1) return value == 1;
  throw UsageError(setting(what, std::to_string(value)) + ": expected 0 or 1");
}

}  // namespace morton::api
