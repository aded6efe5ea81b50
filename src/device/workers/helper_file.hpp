// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"

namespace morton::device {

/// A file that is installed or built beside morton-compile, or nothing where there is none. It is
/// looked for from the library's place, then from the program's.
[[nodiscard]] std::string helper_file(const std::string& name);

}  // namespace morton::device
