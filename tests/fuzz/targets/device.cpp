// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/device/device_info.hpp"
#include "fuzz/fuzz_target.hpp"

namespace morton::test {

/// A description of a device, and what plans ask it for.
void fuzz_device(std::string_view bytes) {
  const DeviceInfo device = device_info_from_text(std::string(bytes));
  (void)environment_of(device);
  (void)guessed_core(device);
  (void)guessed_peaks(device);
  (void)local_memory_limit(device);
  (void)fingerprint(device);
  (void)to_json(device).dump();
}

}  // namespace morton::test
