// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace morton::faults {

/// A device that hangs, and one that vanishes, beside a second one (PoCL gives two to a process
/// that has POCL_DEVICES="pthread basic"): what a session says, and how it and a training go on
/// elsewhere. Returns what was wrong, a line each. `folder` is for caches and checkpoints.
enum class LostParts { all, without_training };
[[nodiscard]] std::vector<std::string> lose_devices(const std::string& folder, LostParts parts);

}  // namespace morton::faults
