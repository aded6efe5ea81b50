// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "morton/tools/doctor.hpp"

namespace morton::device {

struct DoctorOptions {
  /// Folder of the program cache; empty skips its check.
  std::filesystem::path cache_folder;
};

/// "ok", "failed" or "skipped".
[[nodiscard]] std::string_view name_of(DoctorCheck::Outcome outcome);

/// Why no device is found or usable: the loader, each driver that an .icd file names (in
/// $OCL_ICD_VENDORS, else /etc/OpenCL/vendors) and whether it loads, platforms, devices,
/// permissions of the device files, PoCL's cache folder, a small kernel's results on every device,
/// the program cache. Loads the drivers into this process. Never throws for what it finds.
[[nodiscard]] std::vector<DoctorCheck> run_doctor(const DoctorOptions& options);

}  // namespace morton::device
