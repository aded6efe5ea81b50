// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/rooms.hpp"

namespace morton::formats {

/// `text` in quotes for a message: bytes that are not printable ASCII as "\x1b", cut after 80
/// bytes. Names from files go through it, so that they cannot steer a terminal.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace morton::formats
