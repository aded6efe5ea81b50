// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

/// Asks the driver for every fact of `device`. A fact that the driver does not know keeps the
/// default of DeviceInfo. Half and images from buffers are believed only if the extension is
/// listed, no known bug speaks against them, and (images) one could be made. Peaks are
/// guessed. Throws cl::Error when the driver cannot name the device at all.
[[nodiscard]] DeviceInfo facts_of(const cl::Device& device, const std::string& id);

/// Whether `extensions`, a list divided by spaces, holds `name`.
[[nodiscard]] bool has_extension(const std::string& extensions, const std::string& name);

}  // namespace morton::device
