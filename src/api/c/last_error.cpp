// SPDX-License-Identifier: Apache-2.0
//
// Statuses, and each thread's last error.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "api/c/guarded.hpp"
#include "morton/error.hpp"
#include "morton/version.hpp"

using namespace morton;
using namespace morton::api;

namespace {

struct LastError {
  morton_status status = MORTON_OK;
  std::string text, setting, node;
  /// What is said where there is no memory for a text.
  const char* plain = nullptr;
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

morton_status status_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::usage:
      return MORTON_ERROR_USAGE;
    case ErrorClass::model:
      return MORTON_ERROR_MODEL;
    case ErrorClass::unsupported:
      return MORTON_ERROR_UNSUPPORTED;
    case ErrorClass::device:
      return MORTON_ERROR_DEVICE;
    case ErrorClass::internal:
      break;
  }
  return MORTON_ERROR_INTERNAL;
}

void keep_plain(morton_status status, const char* text) noexcept {
  LastError& last = last_error();
  last.status = status;
  last.plain = text;
  last.text.clear();
  last.setting.clear();
  last.node.clear();
}

void keep(morton_status status, const std::string& text, const std::string& setting,
          const std::string& node) noexcept {
  keep_plain(status, "no memory is left for the text of an error");
  try {
    LastError& last = last_error();
    last.setting = setting;
    last.node = node;
    last.text = text;
    last.plain = nullptr;
  } catch (const std::bad_alloc&) {
    // The plain text stays.
  }
}

}  // namespace

morton_status morton::api::keep_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    try {
      keep(status_of(error.error_class()), error.what(), error.setting(), error.node());
    } catch (const std::bad_alloc&) {
      keep_plain(status_of(error.error_class()), "no memory is left for the text of an error");
    }
  } catch (const std::bad_alloc&) {
    keep_plain(MORTON_ERROR_MEMORY, "the host has no memory left");
  } catch (const std::exception& error) {
    keep(MORTON_ERROR_INTERNAL, error.what(), {}, {});
  } catch (...) {
    keep_plain(MORTON_ERROR_INTERNAL, "an exception of an unknown kind");
  }
  return last_error().status;
}

std::string morton::api::given_text(const char* text, const char* what) {
  given(text, what);
  return text;
}

void morton::api::require_data(const void* data, std::size_t bytes, const char* what) {
  if (bytes > 0 && data == nullptr) throw UsageError(std::string(what) + " is NULL");
}

char* morton::api::handed_over(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

const char* morton_version() { return MORTON_VERSION; }

const char* morton_status_name(morton_status status) {
  switch (status) {
    case MORTON_OK:
      return "ok";
    case MORTON_ERROR_USAGE:
      return "usage";
    case MORTON_ERROR_MODEL:
      return "model";
    case MORTON_ERROR_UNSUPPORTED:
      return "unsupported";
    case MORTON_ERROR_DEVICE:
      return "device";
    case MORTON_ERROR_INTERNAL:
      return "internal";
    case MORTON_ERROR_MEMORY:
      return "memory";
    default:
      return "unknown";
  }
}

morton_status morton_last_status() { return last_error().status; }

const char* morton_last_error() {
  const LastError& last = last_error();
  return last.plain != nullptr ? last.plain : last.text.c_str();
}

const char* morton_last_setting() { return last_error().setting.c_str(); }

const char* morton_last_node() { return last_error().node.c_str(); }

void morton_string_free(char* text) { std::free(text); }
