// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"

namespace morton::training {

/// What random numbers of one seed are for, so that uses do not share them.
enum class RandomStream : std::uint32_t { order = 1, augmentation = 2, validation = 3 };

/// The numbers 0 to `count` - 1 in a random order that follows from `seed`, `stream` and `epoch`
/// alone, the same on every platform (Fisher and Yates, from a counter-based generator). Throws
/// UsageError beyond 2^32 numbers.
[[nodiscard]] std::vector<std::uint32_t> random_order(std::int64_t count, std::uint64_t seed,
                                                      RandomStream stream, std::uint32_t epoch);

}  // namespace morton::training
