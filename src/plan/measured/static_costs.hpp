// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::plan {

/// "Mali-G610" or "Adreno 740", as `text` names it: a device's name, or all that is known of it.
/// Empty for others.
[[nodiscard]] MORTON_FOR_TOOLS std::string gpu_model(std::string_view text);
/// Of a described device or of one that is there.
[[nodiscard]] MORTON_FOR_TOOLS std::string gpu_model(const DeviceInfo& device);

/// The board of data/boards ("g610") whose GPU is most like this one: of the same instruction set,
/// and of the nearest number. Empty for a GPU of another kind.
[[nodiscard]] MORTON_FOR_TOOLS std::string board_like(std::string_view gpu);

/// The costs for the device: those of `tuned` (null: none) for its GPU or one that counts for it,
/// and before them what the library has for the board like it. From the folder `boards` of
/// MORTON_KERNEL_DIR where that is set. None for other devices.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<StaticCost> static_costs_for(const DeviceInfo& device,
                                                                        const TunedData* tuned);

}  // namespace morton::plan
