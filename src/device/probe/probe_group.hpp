// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Measures two kernels with work-groups of several shapes.
class GroupProbe {
 public:
  enum class Kernel : std::uint8_t {
    stream,   ///< dst = 2 src + 1 of vectors of four floats
    product,  ///< a product of square matrices, an element of dst by each work-item
  };
  /// Extents of dimensions 0 and 1; dimension 0 goes along rows in memory.
  using Extents = std::array<std::int64_t, 2>;

  /// `work_items` of the kernel; those of a product are its rows and columns. Throws DeviceError.
  GroupProbe(std::shared_ptr<OpenClDevice> device, Kernel kernel, const Extents& work_items);

  /// Why the device does not take work-groups of that shape; nothing where it does.
  [[nodiscard]] std::optional<std::string> why_not(const Extents& group) const;
  /// Milliseconds of a launch of each sample, by the device's clock. Work-groups of 0 x 0 leave the
  /// shape to the driver. Throws DeviceError where a result is wrong.
  [[nodiscard]] std::vector<double> launch_times_ms(const Extents& group, const Sampling& sampling);

 private:
  void check(const Extents& group);

  std::shared_ptr<OpenClDevice> device_;
  Extents work_items_;
  std::shared_ptr<CachedProgram> program_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  std::vector<cl::Buffer> sources_;
  cl::Buffer result_;
  std::vector<float> expected_;
};

}  // namespace morton::device
