// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/rooms.hpp"

namespace morton::training {

/// Values that share a power of two as halves on their way.
inline constexpr std::size_t kHalvesOfAScale = 1024;

/// Bytes of so many values as halves: an f32, their power of two, before each kHalvesOfAScale of
/// them. A multiple of 4.
[[nodiscard]] std::size_t bytes_of_halves(std::size_t values);

/// Rounds to halves. The greatest of the values that share a power of two comes to lie between 2^13
/// and 2^14, so those down to 2^-28 of it keep all digits that a half has. What is not finite
/// stays so. `bytes` has bytes_of_halves.
void to_halves(std::span<const float> values, std::span<std::byte> bytes);
void from_halves(std::span<const std::byte> bytes, std::span<float> values);

}  // namespace morton::training
