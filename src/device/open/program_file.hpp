// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.hpp"
#include "base/for_tools.hpp"
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

/// Why this user should not believe the file or folder at `path` (another owner, others may write,
/// a link), or nothing. A path that does not exist is an answer too.
[[nodiscard]] std::optional<std::string> why_not_trusted(const std::filesystem::path& path);
/// Makes the folder for this user alone, unless it is there. Throws ModelError for one that others
/// may write, UsageError where it cannot be made.
MORTON_FOR_TOOLS void make_trusted_folder(const std::filesystem::path& folder);
/// Why files cannot be kept in `folder`, which need not exist yet: where it is, and what is wrong
/// (no folder, not this user's, not writable, no room for one of 64 KiB). Empty where they can;
/// then the folder is there. Writes a file and removes it.
[[nodiscard]] MORTON_FOR_TOOLS std::string why_not_kept_in(const std::filesystem::path& folder);
/// Writes the file so that `why_not_trusted` accepts it, making its folder if need be (for the user
/// alone). Throws ModelError for a folder that others may write, UsageError where it cannot be
/// written.
MORTON_FOR_TOOLS void write_trusted_file(const std::filesystem::path& path, std::string_view bytes);
/// The same for bytes in parts, one after the other.
void write_trusted_file(const std::filesystem::path& path, std::span<const std::string_view> parts,
                        Flush flush = Flush::at_once);

}  // namespace morton::device
