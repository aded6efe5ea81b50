// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/counter_generator.hpp"

namespace morton {
namespace {

constexpr int kRounds = 10;
constexpr std::uint64_t kMultipliers[] = {0xD2511F53, 0xCD9E8D57};
constexpr std::uint32_t kKeySteps[] = {0x9E3779B9, 0xBB67AE85};

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t even = kMultipliers[0] * counter[0];
    const std::uint64_t odd = kMultipliers[1] * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(even)};
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return counter;
}

}  // namespace morton
