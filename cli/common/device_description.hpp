// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/options.hpp"

namespace morton::cli {

/// --device-info.
void add_device_info(CLI::App& command, std::string& path);

/// The description, as JSON, of the device that `selector` names: one of those that the file `path`
/// describes, which `morton devices --format json` wrote, or without a file one that is present.
/// Throws ModelError for a bad file, UsageError where the file has no such device.
[[nodiscard]] std::string device_description(const std::string& selector, const std::string& path,
                                             const DeviceOptions& options);

}  // namespace morton::cli
