// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/for_tools.hpp"

namespace morton {

/// The build id that the linker gave the library, or the program that holds it, in hexadecimal
/// digits: two builds of different code have different ones. Empty where there is none.
[[nodiscard]] MORTON_FOR_TOOLS const std::string& build_id();

}  // namespace morton
