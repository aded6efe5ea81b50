// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.hpp"
#include "base/for_tools.hpp"

namespace morton {

/// Why this user should not believe the file or folder at `path`: it belongs to neither this user
/// nor root, its group or others may write it, or it is a link. Nothing where none of it is so. A
/// path that does not exist is an answer too.
[[nodiscard]] std::optional<std::string> why_not_trusted(const std::filesystem::path& path);
/// The same for a folder of what is kept between processes (docs/security.md), which need not be
/// there, for Morton's own folders in it, and for those files in them that nobody checks again. The
/// folder may be a link of this user's, or of root's, to such a folder.
[[nodiscard]] MORTON_FOR_TOOLS std::optional<std::string> why_cache_not_trusted(
    const std::filesystem::path& folder);
/// Makes the folder for this user alone, unless it is there; also folders above it that are
/// missing. Throws UsageError where it cannot be made.
MORTON_FOR_TOOLS void make_private_folder(const std::filesystem::path& folder);
/// Likewise, and throws ModelError for one that is not trusted.
MORTON_FOR_TOOLS void make_trusted_folder(const std::filesystem::path& folder);
/// Why files cannot be kept in `folder`, which need not exist yet: where it is, and what is wrong
/// (no folder, not trusted, not writable, no room for one of 64 KiB). Empty where they can; then
/// the folder is there. Writes a file and removes it.
[[nodiscard]] MORTON_FOR_TOOLS std::string why_not_kept_in(const std::filesystem::path& folder);
/// Writes the file so that `why_not_trusted` accepts it, making its folder if need be (for the user
/// alone). Throws ModelError for a folder that is not trusted, UsageError where it cannot be
/// written.
MORTON_FOR_TOOLS void write_trusted_file(const std::filesystem::path& path, std::string_view bytes);
/// The same for bytes in parts, one after the other.
void write_trusted_file(const std::filesystem::path& path, std::span<const std::string_view> parts,
                        Flush flush = Flush::at_once);

}  // namespace morton
