// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"

namespace morton::device {

/// How Linux describes the processor that this program runs on; empty or 0 what it does not say.
struct ProcessorDescription {
  std::string cpuinfo;          ///< /proc/cpuinfo
  std::int64_t l1_bytes = 0;    ///< /sys/devices/system/cpu/cpu0: the first data cache
  std::int64_t l2_bytes = 0;    ///< likewise the second
  std::string thread_siblings;  ///< the hardware threads of the first core, such as "0,64" or "0-1"

  [[nodiscard]] static ProcessorDescription read();
};

/// Writes into `info.core` what the description says, with the sources, for a device that is this
/// processor. Where OpenCL states a native vector, its width counts: a driver may compile for less
/// than the processor can.
void describe_core(const ProcessorDescription& processor, DeviceInfo& info);

}  // namespace morton::device
