// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace morton::cli {

/// Sets what drivers should know of this machine and this program, as environment variables that
/// they read at the first OpenCL call: commands that open or list devices call it before. A value
/// that the user has set stays.
void prepare_drivers();

}  // namespace morton::cli
