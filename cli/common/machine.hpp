// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace morton::cli {

/// Sets what drivers should know of this machine and this program, as environment variables that
/// they read at the first OpenCL call: commands that open or list devices call it before. A value
/// that the user has set stays.
void prepare_drivers();

/// Where a file or folder is that comes with Morton, such as "models/lenet5.onnx": as installed
/// with this program, else in the repository that has built it, else below the current folder.
[[nodiscard]] std::string shipped_file(const std::string& name);

}  // namespace morton::cli
