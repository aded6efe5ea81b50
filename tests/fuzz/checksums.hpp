// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/rooms.hpp"

namespace morton::test {

/// The bytes with right checksums in every PNG, zip archive and gzip file that begins in them, as
/// far as these are whole enough. So a changed byte gets past what only finds accidents.
[[nodiscard]] std::string with_right_checksums(std::string bytes);

}  // namespace morton::test
