// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"

namespace morton::launch {

/// Gives CLBlast the parameters of the file that MORTON_CLBLAST_PARAMETERS names, for all its calls
/// on this device; nothing where that is unset. CLBlast keeps them for the process. Throws
/// ModelError for a file that is not as bench/clblast_tune.py writes it, DeviceError where CLBlast
/// refuses a value. Only in builds that have CLBlast.
void use_clblast_parameters(const OpenClDevice& device);

}  // namespace morton::launch
