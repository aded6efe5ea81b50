// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "morton/compile.hpp"

namespace morton::cli {

/// Most memory that this process has held so far.
[[nodiscard]] std::int64_t peak_host_bytes();

/// Host memory while a model was imported, planned and loaded.
struct LoadingMemory {
  std::int64_t file_bytes = 0;  ///< of the model's file, not of data beside it
  std::int64_t peak_host_bytes = 0;
  /// Of the peak, what buffers take of a device that is the host's processor; 0 of others.
  std::int64_t of_the_device_bytes = 0;
};

/// To be called when the model was just compiled. Throws ModelError for a file that is gone.
[[nodiscard]] LoadingMemory loading_memory(const std::string& path, const CompiledModel& model);

/// "loading 571.0 MiB besides the device's 528.6 MiB (the model's file: 527.8 MiB)".
[[nodiscard]] std::string text_of(const LoadingMemory& memory);

}  // namespace morton::cli
