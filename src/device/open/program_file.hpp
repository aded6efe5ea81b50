// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"

namespace morton::device {

/// A program binary as it lies on disk, and what says that it is whole and belongs where it is
/// used.
///
/// The file is seven lines of text and the binary:
///
///     morton program 1
///     key <digest>
///     owner <digest of the device's fingerprint>
///     kernels <names, divided by spaces>
///     bytes <size of the binary>
///     digest <of the binary>
///     header <digest of all lines above>
///
/// so that any flipped, missing or added byte is seen.
struct ProgramFile {
  std::string key;
  std::string owner;
  std::vector<std::string> kernels;
  std::string binary;
};

/// Version of the file's format, part of every key.
inline constexpr int kProgramFileVersion = 1;

[[nodiscard]] std::string encode(const ProgramFile& file);
/// Reads what `encode` wrote. Throws ModelError, naming `where`, for anything else.
[[nodiscard]] ProgramFile decode_program_file(std::string_view bytes, const std::string& where);

}  // namespace morton::device
