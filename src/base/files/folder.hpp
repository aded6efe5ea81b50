// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/for_tools.hpp"

namespace morton {

/// The paths of what lies in `folder`, in no order. Sets `status` where the folder cannot be read;
/// what was read before is returned. Where memory is short it throws std::bad_alloc, and
/// libstdc++'s directory_iterator ends the process.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<std::filesystem::path> entries_of(
    const std::filesystem::path& folder, std::error_code& status);

}  // namespace morton
