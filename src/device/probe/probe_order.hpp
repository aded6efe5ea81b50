// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::device {

/// Finds in which order a device begins the work-groups of a launch.
class OrderProbe {
 public:
  /// Throws DeviceError.
  explicit OrderProbe(std::shared_ptr<OpenClDevice> device);

  /// Launches so many work-groups of one work-item, and returns the ticket that each took: of group
  /// (i, j) at i + j * groups[0]. Throws DeviceError where tickets are missing or taken twice.
  [[nodiscard]] std::vector<std::int64_t> tickets(const std::array<std::int64_t, 2>& groups);

 private:
  std::shared_ptr<OpenClDevice> device_;
  std::shared_ptr<CachedProgram> program_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
};

/// How well tickets fit the order in which ids of one dimension run fastest.
struct OrderFit {
  std::int64_t pieces = 1;   ///< into which that order falls, each with tickets that go up
  double displacement = 0.;  ///< mean distance from it, of the number of groups
  double step = 0.;          ///< mean distance between tickets of groups that follow each other
};
[[nodiscard]] OrderFit fit_of(const std::vector<std::int64_t>& tickets,
                              const std::array<std::int64_t, 2>& groups, int dimension);

}  // namespace morton::device
