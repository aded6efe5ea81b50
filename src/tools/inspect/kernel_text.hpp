// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "morton/tools/kernel.hpp"
#include "plan/single/single_kernel.hpp"

namespace morton::tools {

/// A kernel that was made for a device, for people.
[[nodiscard]] KernelText text_of(const SingleKernel& made, const DeviceInfo& device);

/// Throws UsageError for a kernel that the catalogue has not, with those of like names.
[[noreturn]] void fail_unknown_kernel(const std::string& kernel, const Catalogue& catalogue);

}  // namespace morton::tools
