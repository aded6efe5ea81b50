// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/rooms.hpp"
#include "morton/error.hpp"

namespace morton::formats {

/// No packed file may say that it unpacks to more than this.
inline constexpr std::int64_t kMaxUnpackedBytes = std::int64_t{1} << 36;
/// Deflate turns one byte into at most 1032 (zlib's technical notes), so a file that says more is
/// lying or packed to harm.
inline constexpr std::int64_t kMaxExpansion = 1032;
/// What any file may unpack to, however short.
inline constexpr std::int64_t kFreeBytes = std::int64_t{1} << 16;

/// Throws ModelError when a file of `packed` bytes says that it unpacks to `unpacked` bytes, and
/// cannot. Called before memory is taken.
inline void check_expansion(const std::string& where, std::int64_t unpacked, std::int64_t packed) {
  if (unpacked >= 0 && unpacked <= kMaxUnpackedBytes &&
      (unpacked <= kFreeBytes || unpacked / kMaxExpansion <= packed)) {
    return;
  }
  throw ModelError(where + ": says that it unpacks to " + std::to_string(unpacked) +
                   " bytes, which its " + std::to_string(packed) + " bytes cannot hold");
}

}  // namespace morton::formats
