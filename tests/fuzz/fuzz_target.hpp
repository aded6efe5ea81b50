// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "morton/error.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// A parser of untrusted bytes, and what is done with its result.
struct FuzzTarget {
  std::string_view name;
  /// Reads the bytes as the engine would read a file of them. Morton's errors are the expected end;
  /// an InternalError is none, nor is any other exception.
  void (*read)(std::string_view bytes) = nullptr;
  std::int64_t most_bytes = 0;  ///< of one input

  /// Of ONNX, which onnx_mutator.hpp changes.
  [[nodiscard]] bool reads_models() const {
    return name.starts_with("onnx") || name == "trees" || name == "external_data";
  }
  /// Of files with checksums, which checksums.hpp makes right again.
  [[nodiscard]] bool has_checksums() const {
    return name == "pictures" || name == "npz" || name == "idx" || name == "dataset";
  }
};

/// Those of fuzz_targets.def, in its order.
[[nodiscard]] std::span<const FuzzTarget> fuzz_targets();
/// The one of that name, or null.
[[nodiscard]] const FuzzTarget* find_fuzz_target(std::string_view name);

/// Calls `read`, which may end with an error of Morton. Throws what is a finding: an InternalError,
/// or what is no error of Morton.
template <typename Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.error_class() == ErrorClass::internal) throw;
  }
}

/// Has the target read the bytes; throws as `read_or_refuse`.
void run_fuzz_target(const FuzzTarget& target, std::string_view bytes);

// The `read` of each, in a file of its name.
#define FUZZ_TARGET(name, most_bytes) void fuzz_##name(std::string_view bytes);
#include "fuzz/fuzz_targets.def"
#undef FUZZ_TARGET

}  // namespace morton::test
