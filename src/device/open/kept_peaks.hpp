// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "morton/message.hpp"

namespace morton::device {

/// What was found of a device's measured peaks on disk. Without a file both are empty.
struct KeptPeaks {
  std::optional<RooflinePeaks> peaks;
  Message problem;  ///< why a file that is there is not used, and what to do
};

/// `<folder>/roofs/<digest of the device's fingerprint>.json`: an object with "schema" 1, "device"
/// (the fingerprint, for people), "digest" (of it) and "roofs" as in the description of a device
/// (docs/devices.md).
[[nodiscard]] std::filesystem::path path_of_peaks(const std::filesystem::path& folder,
                                                  const DeviceInfo& info);
/// A file that is damaged, another device's or another user's is a problem, never an error. An
/// empty folder has none.
[[nodiscard]] MORTON_FOR_TOOLS KeptPeaks read_kept_peaks(const std::filesystem::path& folder,
                                                         const DeviceInfo& info);
/// Writes `peaks` for later processes, atomically, and returns the path. Throws UsageError
/// where the file cannot be written, and for an empty folder.
MORTON_FOR_TOOLS std::filesystem::path keep_peaks(const std::filesystem::path& folder,
                                                  const DeviceInfo& info,
                                                  const RooflinePeaks& peaks);

}  // namespace morton::device
