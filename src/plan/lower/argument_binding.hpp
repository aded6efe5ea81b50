// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// What steps pass to their kernels: values, as buffers or images, and integers.
class ArgumentBinding {
 public:
  ArgumentBinding(const Values& values, const DeviceInfo& device)
      : values_(values), device_(device) {}

  /// Gives the step the arguments that `source` names, what it reads and writes through them, and
  /// how many bytes these are. `sizes` are the integers that are known.
  void bind(const ScheduledKernel& kernel, const InstanceSource& source, const Environment& sizes,
            Step& step) const;

 private:
  [[nodiscard]] PlannedImage image_of(const Entry& entry, const std::string& role,
                                      ValueId value) const;

  const Values& values_;
  const DeviceInfo& device_;
};

}  // namespace morton::plan
