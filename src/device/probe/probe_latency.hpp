// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Places in memory, `stride_bytes` apart, of which each holds the index of the next: one random
/// cycle through all of them, so that no load can begin before the one before it has ended.
class LoadChain {
 public:
  /// `stride_bytes` is a multiple of 4; there is a place at least.
  LoadChain(std::int64_t footprint_bytes, std::int64_t stride_bytes);

  /// As it lies in memory: elements that are no place are 0.
  [[nodiscard]] const std::vector<std::uint32_t>& elements() const { return elements_; }
  /// The element at which so many loads, begun at element 0, end.
  [[nodiscard]] std::uint32_t end_after(std::int64_t loads) const;

 private:
  std::vector<std::uint32_t> elements_;
  std::vector<std::uint32_t> cycle_;  ///< the places in the order of the cycle, from element 0
};

/// Measures how long a load takes that waits for the one before it, on the device and on the host.
class LatencyProbe {
 public:
  /// Throws DeviceError.
  explicit LatencyProbe(std::shared_ptr<OpenClDevice> device);

  /// Nanoseconds a load of each sample, in one work-item, by the device's clock. Caches hold before
  /// what they can of the chain. Throws DeviceError where the chain ends at another place than it
  /// must.
  [[nodiscard]] std::vector<double> device_ns(const LoadChain& chain, const Sampling& sampling);
  /// Likewise on a thread of the host.
  [[nodiscard]] static std::vector<double> host_ns(const LoadChain& chain,
                                                   const Sampling& sampling);

 private:
  /// Reads all of it once, fast.
  void touch(const cl::Buffer& elements, std::int64_t count);

  std::shared_ptr<OpenClDevice> device_;
  std::shared_ptr<CachedProgram> program_;
  cl::CommandQueue queue_;
  cl::Kernel chase_, touch_;
};

}  // namespace morton::device
