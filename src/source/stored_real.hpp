// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/numbers/power_rounding.hpp"
#include "base/rooms.hpp"
#include "morton/dtype.hpp"

namespace morton::source {

/// OpenCL C of `float <name>(uchar code)`: the value of a stored real's code.
[[nodiscard]] std::string from_stored_real_text(DType type, const std::string& name);

/// OpenCL C of `uchar <name>(float value)`: what to_stored_real of base/numbers gives.
[[nodiscard]] std::string to_stored_real_text(DType type, const std::string& name, OutOfRange out,
                                              PowerRounding rounding);

}  // namespace morton::source
