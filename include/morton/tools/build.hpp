// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

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

/// Builds kernels in a process of its own, as build_kernel does. A compiler that ends the process,
/// or takes too long, has not built the kernel; the next one gets a new process.
class MORTON_API KernelBuilder {
 public:
  struct Options {
    std::string device;               ///< as Device::open takes it
    std::vector<std::string> worker;  ///< program and arguments that call run_tune_worker()
    double timeout_ms = 60e3;         ///< of one build
  };

  explicit KernelBuilder(Options options);
  ~KernelBuilder();
  KernelBuilder(const KernelBuilder&) = delete;
  KernelBuilder& operator=(const KernelBuilder&) = delete;

  /// Throws UsageError for a kernel without a text, and DeviceError where the device does not open.
  [[nodiscard]] KernelBuild build(const KernelText& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace morton
