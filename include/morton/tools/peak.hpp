// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "morton/device.hpp"
#include "morton/export.hpp"

namespace morton {

/// Measures how many f32 multiply-adds a device does at most: a kernel of twelve independent chains
/// of vectors in registers, two operations for each multiply-add.
class MORTON_API PeakProbe {
 public:
  /// Builds the kernel for vectors of 1, 2, 4, 8 and 16 and keeps the fastest width. Throws
  /// DeviceError.
  explicit PeakProbe(const Device& device);
  PeakProbe(PeakProbe&&) noexcept;
  PeakProbe& operator=(PeakProbe&&) noexcept;
  ~PeakProbe();

  /// One run of some 20 ms, in GFLOP/s.
  [[nodiscard]] double sample_gflops();
  /// "fma on float16, 12 chains".
  [[nodiscard]] std::string description() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace morton
