// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/tools/kernel.hpp"

namespace morton {

/// What a driver's compiler makes of a kernel's text.
struct KernelBuild {
  bool is_built = false;
  std::string
      problem;       ///< why not, with the driver's build log, shortened; empty where it is built
  std::string said;  ///< what the compiler printed: statistics and machine code, if its environment
                     ///< asks for them
  double milliseconds = 0.0;
};

/// Builds the text on the device, which needs no arrays and launches nothing. No cache is read or
/// written. Until it returns, all that the process writes to standard output and standard error
/// goes into `said`. Throws UsageError for a kernel without a text.
[[nodiscard]] MORTON_API KernelBuild build_kernel(const KernelText& kernel, const Device& device);

}  // namespace morton
