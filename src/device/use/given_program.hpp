// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/program_cache.hpp"

namespace morton::device {

/// The driver does not take a binary, though it is whole and made by this driver.
struct RefusedBinary : DeviceError {
  using DeviceError::DeviceError;
};

/// A program with these kernels from its binary, which must be whole and this device's: drivers
/// trust what they are given. Throws RefusedBinary.
[[nodiscard]] std::shared_ptr<CachedProgram> program_of_binary(
    OpenClDevice& device, const std::vector<std::string>& kernels, std::string_view binary);

/// The program's binary; call after all its kernels ran (program_cache.hpp says why). Throws
/// DeviceError where the driver gives none.
[[nodiscard]] std::string binary_of(const OpenClDevice& device, const CachedProgram& program);

}  // namespace morton::device
