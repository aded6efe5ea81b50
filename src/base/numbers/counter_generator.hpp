// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace morton {

/// 128 random bits for each counter and key: Philox4x32-10, integers only, so the same on every
/// platform and device. Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers:
/// as easy as 1, 2, 3" (2011).
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key);

/// Random numbers that follow from their place alone: nothing is kept between draws, so whoever
/// knows the place goes on where another stopped.
class CounterGenerator {
 public:
  /// `stream` tells uses of one seed apart (order, augmentation, ...), `epoch` the passes over the
  /// data.
  CounterGenerator(std::uint64_t seed, std::uint32_t stream, std::uint32_t epoch)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        stream_(stream),
        epoch_(epoch) {}

  /// The 128 bits of place `index`.
  [[nodiscard]] std::array<std::uint32_t, 4> bits(std::uint64_t index) const {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                   epoch_, stream_},
                  key_);
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t stream_;
  std::uint32_t epoch_;
};

/// A number from 0 to `count` - 1 from 32 random bits (count <= 2^32). Multiplies and shifts; the
/// likeliest number is by count / 2^32 likelier than the least likely.
[[nodiscard]] constexpr std::uint64_t below(std::uint64_t count, std::uint32_t random) {
  return (count * random) >> 32;
}

}  // namespace morton
