// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/numbers/counter_generator.hpp"
#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// The random numbers of a node. They follow from its attribute `seed`, or from its name where it
/// has none, and from the place of each number.
class RandomPlaces {
 public:
  explicit RandomPlaces(const NodeView& node);
  /// At least 0 and below 1, in steps of 2^-24: exact in f32.
  [[nodiscard]] double uniform(std::uint64_t place) const;
  /// Of mean 0 and deviation 1. Source: G. Box, M. Muller, "A note on the generation of random
  /// normal deviates" (1958).
  [[nodiscard]] double normal(std::uint64_t place) const;

 private:
  CounterGenerator generator_;
};

}  // namespace morton::ops
