// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "morton/device.hpp"
#include "morton/export.hpp"

namespace morton {

/// One thing that must be right before a device can be used, and what to do when it is not.
struct DoctorCheck {
  enum class Outcome : std::uint8_t { ok, failed, skipped };
  std::string name;  ///< "driver pocl.icd"
  Outcome outcome = Outcome::ok;
  std::string detail;  ///< what was found, or why it was skipped
  std::string fix;     ///< what the user can do; empty unless it failed
};

/// Why a device is or is not usable: loader, ICD files, permissions, caches, a tiny kernel's
/// answer.
[[nodiscard]] MORTON_API std::vector<DoctorCheck> run_doctor(const DeviceConfig& config = {});

}  // namespace morton
