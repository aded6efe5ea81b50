// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {

/// A driver that does not build kernels, or does not launch them: their text is too much for its
/// compiler, or their registers for their work-groups. Other kernels may do.
class RefusedKernels : public DeviceError {
 public:
  RefusedKernels(const Message& message, std::vector<std::string> functions)
      : DeviceError(message), functions_(std::move(functions)) {}

  /// Names of the kernels in the program's text.
  [[nodiscard]] const std::vector<std::string>& functions() const { return functions_; }

 private:
  std::vector<std::string> functions_;
};

/// Throws RefusedKernels where the device holds fewer work-items of the kernel, for its registers,
/// than a work-group of `local` needs, or less local memory. Some drivers end the process instead
/// of refusing such a launch.
void require_launchable(const cl::Kernel& kernel, const std::array<std::int64_t, 3>& local,
                        const std::string& function, const OpenClDevice& device);

}  // namespace morton::device
