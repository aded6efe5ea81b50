// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include <algorithm>
#include <array>

namespace morton::test {

std::span<const FuzzTarget> fuzz_targets() {
  static constexpr std::array kTargets{
#define FUZZ_TARGET(name, most_bytes) FuzzTarget{#name, fuzz_##name, most_bytes},
#include "fuzz/fuzz_targets.def"
#undef FUZZ_TARGET
  };
  return kTargets;
}

const FuzzTarget* find_fuzz_target(std::string_view name) {
  const auto all = fuzz_targets();
  const auto found = std::ranges::find(all, name, &FuzzTarget::name);
  return found == all.end() ? nullptr : &*found;
}

void run_fuzz_target(const FuzzTarget& target, std::string_view bytes) {
  read_or_refuse([&] { target.read(bytes); });
}

}  // namespace morton::test
