// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"

namespace morton::device {

/// The first lines of a compiler's log, each on a line of its own; says how long all of it is where
/// lines are left out.
[[nodiscard]] std::string shortened_log(const std::string& log);

}  // namespace morton::device
