// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/device/device_info.hpp"

namespace morton {

std::int64_t local_memory_limit(const DeviceInfo& info) {
  constexpr std::int64_t kHopper = 90, kOfHopper = 227 << 10;
  const std::int64_t stated = info.memory.local_bytes;
  return info.compute.cuda_capability == kHopper ? std::max(stated, kOfHopper) : stated;
}

}  // namespace morton
