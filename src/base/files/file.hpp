// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/for_tools.hpp"

namespace morton {

/// The bytes of a regular file, up to `limit_bytes`. Throws ModelError that names the file and what
/// is wrong (missing, a folder, not readable, larger than the limit).
[[nodiscard]] MORTON_FOR_TOOLS std::string read_file(const std::filesystem::path& path,
                                                     std::int64_t limit_bytes);

/// Writes to a temporary file beside `path`, flushes it, renames it over `path` and flushes the
/// folder, so that a kill at any moment leaves the old or the new file. Creates missing folders.
/// Throws UsageError that names the file.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);
/// When a file's bytes are on the disk: before it has its name, or when the system gets to it. Then
/// a crash of the system may leave the name with other bytes; whoever reads them must find out.
enum class Flush : std::uint8_t { at_once, later };
/// Who may do what with a file: as the user's mask says; nobody but its owner may write it (code);
/// its owner alone may read it.
enum class Access : std::uint8_t { by_mask, owner_writes, owner_alone };
/// The same for bytes in parts, one after the other.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts, Flush flush = Flush::at_once,
                           Access access = Access::by_mask);

/// Removes the temporary files that a kill in the middle of writing `path` has left beside it.
/// Those that are being written stay, and what cannot be removed.
void remove_unfinished(const std::filesystem::path& path);

/// Flushes the names in `folder`, so that a renamed file stays renamed. Not every file system has
/// that; then nothing happens. Throws UsageError where it fails (a broken disk).
void flush_folder(const std::filesystem::path& folder);

/// Waits as long as MORTON_SLOW_WRITES says, in milliseconds; at once where it is unset. Writing a
/// file does so many times, so that tests can end a process in the middle.
void pause_for_slow_writes();

/// A 128-bit digest (XXH3) of `bytes` in 32 hexadecimal digits: against damage, not against
/// forgery.
[[nodiscard]] MORTON_FOR_TOOLS std::string digest_of(std::string_view bytes);

}  // namespace morton
