// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/rooms.hpp"

namespace morton::formats {

/// A message of ONNX whose parts are counted.
enum class OnnxMessage : std::uint8_t {
  node,
  attribute,
  graph,
  function,
  tensor,
  value,  ///< ValueInfoProto
  type,
  shape,
  other,  ///< without messages inside
};

/// Bytes of memory that the message takes once it is parsed, about: each message and each text in
/// it, numbers, and bytes as they are. `bytes` is the message without its tag and length. What is
/// damaged counts as far as it can be read, which is also as far as it is parsed.
[[nodiscard]] std::int64_t parsed_bytes(OnnxMessage kind, std::string_view bytes);

/// The most that what describes a model's graph, without its initializers, may take in memory: some
/// times the file, and never less than 256 MiB. The variable MORTON_MODEL_MEMORY, in MiB,
/// says another number, and `asked_bytes`, where it is not 0, goes before both. Throws UsageError
/// where the variable's is none.
[[nodiscard]] std::int64_t most_parsed_bytes(std::int64_t file_bytes, std::int64_t asked_bytes = 0);

}  // namespace morton::formats
