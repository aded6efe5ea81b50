// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"

namespace morton {

/// The quirk among info.quirks for which the driver ends the process over the catalogue's kernel,
/// while it builds or runs it; empty where there is none. No plan takes such a kernel.
[[nodiscard]] MORTON_FOR_TOOLS std::string_view fatal_quirk(const DeviceInfo& info,
                                                            const std::string& kernel);

}  // namespace morton
