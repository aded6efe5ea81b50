// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include "support/rooms.hpp"

namespace morton::test {

/// True under ./dev check --long, which runs what takes minutes; ./dev test runs a share of it.
[[nodiscard]] inline bool is_long_run() { return std::getenv("MORTON_TEST_LONG") != nullptr; }

}  // namespace morton::test
