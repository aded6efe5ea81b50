// SPDX-License-Identifier: Apache-2.0
#include "device/open/memory_budget.hpp"

#include <charconv>
#include <mutex>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {
namespace {

std::optional<std::int64_t> limit_of_environment() {
  const auto text = environment_variable("MORTON_MEMORY_LIMIT");
  if (!text) return std::nullopt;
  std::int64_t bytes = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, status] = std::from_chars(text->data(), end, bytes);
  if (status != std::errc() || stop != end || bytes < 1) {
    throw UsageError("MORTON_MEMORY_LIMIT=" + *text + ": expected a number of bytes, 1 or more");
  }
  return bytes;
}

/// What all devices of the process share.
struct Budget {
  std::mutex mutex;
  std::optional<std::int64_t> limit = limit_of_environment();
  std::int64_t taken = 0;
};

/// Lives as long as the process: blocks are given back when other statics are gone.
Budget& budget() {
  static auto* const shared = new Budget;
  return *shared;
}

}  // namespace

MemoryShare::~MemoryShare() {
  if (bytes_ == 0) return;
  const std::lock_guard lock(budget().mutex);
  budget().taken -= bytes_;
}

std::optional<MemoryShare> MemoryShare::take(std::int64_t bytes) {
  Budget& all = budget();
  const std::lock_guard lock(all.mutex);
  if (all.limit && bytes > *all.limit - all.taken) return std::nullopt;
  all.taken += bytes;
  return MemoryShare(bytes);
}

MemoryShare MemoryShare::require(std::int64_t bytes, const std::string& what) {
  if (auto share = take(bytes)) return std::move(*share);
  Budget& all = budget();
  const std::lock_guard lock(all.mutex);
  throw OutOfMemory(what + ": asked for " + std::to_string(bytes) + " bytes while " +
                    std::to_string(all.taken) + " of the " + std::to_string(all.limit.value_or(0)) +
                    " bytes that " + setting("memory_limit") +
                    " allows are in use; use a smaller batch or " +
                    setting("workspace_limit_bytes") + ", free sessions, or allow more");
}

std::optional<std::int64_t> memory_limit() {
  const std::lock_guard lock(budget().mutex);
  return budget().limit;
}

void set_memory_limit(std::int64_t bytes) {
  if (bytes < 1) {
    throw UsageError(setting("memory_limit") + ": " + std::to_string(bytes) +
                     " bytes are no limit; expected 1 or more");
  }
  const std::lock_guard lock(budget().mutex);
  budget().limit = bytes;
}

}  // namespace morton::device
