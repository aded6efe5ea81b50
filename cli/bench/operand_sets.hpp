// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "morton/device.hpp"

namespace morton::cli {

/// Where the operands of calls back to back lie.
enum class Buffers : std::uint8_t {
  warm,   ///< every call uses the same ones: in the caches, as far as they fit
  rotate  ///< calls take turns among so many that they come from memory
};

/// "warm" or "rotate"; throws UsageError.
[[nodiscard]] Buffers parse_buffers(const std::string& text);

/// How many sets of operands there are, and what that means to a reader.
struct OperandSets {
  std::size_t count = 1;
  std::string description;
};

/// For operands of `bytes` together. Rotating sets are 8 times as large as the last-level cache
/// of the device (and of the host where that is the device), but 2048 at most; the description
/// says.
[[nodiscard]] OperandSets operand_sets_of(Buffers buffers, double bytes, const Device& device);

}  // namespace morton::cli
