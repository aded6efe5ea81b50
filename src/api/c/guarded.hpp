// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "morton/c/base.h"

namespace morton::api {

/// Keeps the exception that is being handled as this thread's last error. Returns its status.
morton_status keep_error() noexcept;

/// Runs the body of a function of the interface for C: no exception leaves it.
template <typename Body>
morton_status guarded(const Body& body) noexcept {
  try {
    body();
    return MORTON_OK;
  } catch (...) {
    return keep_error();
  }
}

/// The object behind a pointer that must not be null; `what` is the parameter's name.
template <typename T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw UsageError(std::string(what) + " is NULL");
  return *pointer;
}

/// The text of a parameter that must not be null.
std::string given_text(const char* text, const char* what);
/// UsageError for null where there are bytes.
void require_data(const void* data, std::size_t bytes, const char* what);
/// A copy that `morton_string_free` takes back.
char* handed_over(const std::string& text);

/// Sets `*to` to null first, so that it is so where `make` throws, then to what that returns.
template <typename T, typename Make>
morton_status hand_over(T** to, const char* what, const Make& make) noexcept {
  if (to != nullptr) *to = nullptr;
  // cppcheck-suppress throwInNoexceptFunction ; guarded() catches what its body throws
  return guarded([&] {
    given(to, what);
    *to = make();
  });
}

}  // namespace morton::api
