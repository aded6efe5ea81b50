// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/doctor.hpp"

#include "api/cache/cache_folder.hpp"
#include "device/probe/doctor.hpp"

namespace morton {
using namespace tools;

std::vector<DoctorCheck> run_doctor(const DeviceConfig& config) {
  return run_doctor(DoctorOptions{cache_folder_of(config)});
}

}  // namespace morton
