// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"
#include "device/use/host_product.hpp"

namespace morton::device {

/// Measures what a step on the host costs beside a device that shares the host's memory, on the
/// host's clock: the product itself, and waiting for the device, mapping and going on.
class HostProbe {
 public:
  /// Throws DeviceError.
  explicit HostProbe(std::shared_ptr<OpenClDevice> device);

  /// Microseconds of one square product of this size of each sample, operands in the caches. Throws
  /// DeviceError where a product comes out wrong.
  [[nodiscard]] std::vector<double> product_us(std::int64_t size, const Sampling& sampling);
  /// Microseconds, of each sample, of a kernel of one work-item and a 1 x 1 x 1 product on the host
  /// behind it, many after each other. Throws DeviceError, also where a product comes out wrong.
  [[nodiscard]] std::vector<double> launch_and_step_us(const Sampling& sampling);

 private:
  std::shared_ptr<OpenClDevice> device_;
  std::shared_ptr<CachedProgram> program_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  ProductBuffers buffers_;
};

}  // namespace morton::device
