// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <vector>

#include "support/rooms.hpp"

namespace morton::test {

/// True under ./dev check --long, which runs what takes minutes; ./dev test runs a share of it.
[[nodiscard]] inline bool is_long_run() { return std::getenv("MORTON_TEST_LONG") != nullptr; }

/// All of them in a long run, otherwise the first.
template <typename Value>
[[nodiscard]] std::vector<Value> some_of(std::vector<Value> values) {
  if (!is_long_run()) values.erase(values.begin() + 1, values.end());
  return values;
}

}  // namespace morton::test
