// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <random>

#include "support/rooms.hpp"

namespace morton::test {

/// Numbers at which parsers err; the same for the same seed.
class RandomValues {
 public:
  explicit RandomValues(std::uint32_t seed) : random_(seed) {}

  [[nodiscard]] std::uint32_t below(std::size_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }
  /// Likewise, of the places of something that is not empty.
  [[nodiscard]] int place(int size) {
    return static_cast<int>(below(static_cast<std::size_t>(size)));
  }
  /// Small ones, those at the edges of types, and neighbours of `old`.
  [[nodiscard]] std::int64_t number(std::int64_t old) {
    static constexpr std::array<std::int64_t, 22> kEdges{0,
                                                         1,
                                                         -1,
                                                         2,
                                                         3,
                                                         -2,
                                                         4,
                                                         5,
                                                         7,
                                                         8,
                                                         16,
                                                         64,
                                                         100,
                                                         255,
                                                         256,
                                                         1 << 16,
                                                         (1LL << 31) - 1,
                                                         1LL << 31,
                                                         1LL << 32,
                                                         1LL << 40,
                                                         std::numeric_limits<std::int64_t>::max(),
                                                         std::numeric_limits<std::int64_t>::min()};
    const auto choice = below(4);
    if (choice == 0) return static_cast<std::int64_t>(static_cast<std::uint64_t>(old) + 1);
    if (choice == 1) return static_cast<std::int64_t>(static_cast<std::uint64_t>(old) - 1);
    // Mostly small: large ones are refused at once.
    return kEdges[below(choice == 2 ? 11 : kEdges.size())];
  }
  [[nodiscard]] float real() {
    static constexpr std::array kReals{0.F,
                                       1.F,
                                       -1.F,
                                       0.5F,
                                       2.F,
                                       1e-30F,
                                       1e30F,
                                       -0.F,
                                       3.5F,
                                       std::numeric_limits<float>::infinity(),
                                       std::numeric_limits<float>::quiet_NaN()};
    return kReals[below(kReals.size())];
  }
  /// Of an element, known or not.
  [[nodiscard]] std::int32_t kind() { return static_cast<std::int32_t>(below(24)); }

 private:
  std::mt19937 random_;
};

}  // namespace morton::test
