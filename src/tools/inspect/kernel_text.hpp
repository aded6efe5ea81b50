// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "morton/tools/kernel.hpp"
#include "plan/single/single_kernel.hpp"

namespace morton::tools {

/// A kernel that was made for a device, for people.
[[nodiscard]] KernelText text_of(const SingleKernel& made, const DeviceInfo& device);

}  // namespace morton::tools
