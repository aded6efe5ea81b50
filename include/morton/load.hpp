// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "morton/export.hpp"

namespace morton {

/// What loading may take (docs/security.md#limits). What asks for more is refused with
/// UnsupportedError, which names the limit; the files of models need no more than these.
struct LoadLimits {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  /// Of a model's file. ONNX's format ends at 2 GiB in any case.
  std::int64_t file_bytes = kNone;
  /// Of the files that a model names, together.
  std::int64_t external_bytes = kNone;
  /// Of a model, with those in bodies, and those of functions where they are called.
  std::int64_t nodes = 1'000'000;
  /// Constants that the file holds, likewise.
  std::int64_t constants = 1'000'000;
  /// Bodies inside of bodies: the branch of an If in the graph is at depth 1.
  std::int64_t depth = 16;
  /// Of one tensor, whether a file holds it or a shape follows from others.
  std::int64_t elements = std::int64_t{1} << 40;
  /// Host memory for what describes a graph, without its constants. 0: $MORTON_MODEL_MEMORY, else
  /// 8 times the file and at least 256 MiB.
  std::int64_t memory_bytes = 0;
  /// Of one constant that is computed ahead from others; a larger one is computed in each run.
  std::int64_t folded_bytes = std::int64_t{64} << 20;
  /// Of a picture, whose sides have at most 16384 in any case.
  std::int64_t pixels = std::int64_t{16384} * 16384;
  /// For reading a model, and again for the passes over it while it is compiled. 0: any time.
  double seconds = 0.0;
  friend bool operator==(const LoadLimits&, const LoadLimits&) = default;
};

/// The limits of a text such as "nodes=1000,memory=64MiB,seconds=5", in place of those in `limits`:
/// file, external, memory and folded in bytes (or KiB, MiB, GiB), nodes, constants, depth, elements
/// and pixels in numbers, seconds in seconds. An empty text changes nothing. Throws UsageError for
/// another name, and for a value that is none.
[[nodiscard]] MORTON_API LoadLimits with_limits(LoadLimits limits, std::string_view text);

/// How a model is loaded.
struct LoadOptions {
  /// A folder beneath which all files that the model names may lie, also behind symbolic links that
  /// stay inside, and with several hard links. Names count from the model's own folder where that
  /// lies beneath it, else from this folder. Empty: they lie beneath the model's own folder, and no
  /// links lead to them.
  std::string weights_folder;
  LoadLimits limits;
};

}  // namespace morton
