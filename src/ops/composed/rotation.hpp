// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/graph_writer.hpp"

namespace morton::ops {

/// Rotary embedding (Su et al., 2021) of the last dimension of `x`.
struct Rotation {
  /// Of the rotated part, half as long as it; both broadcast against the other dimensions of x.
  TensorId cosine = kNoTensor;
  TensorId sine = kNoTensor;
  /// Which elements are a pair: those in the same place of both halves, or neighbours.
  enum class Pairs : std::uint8_t { halves, neighbours } pairs = Pairs::halves;
};
/// `x` with its leading elements, twice as many as the cosines, rotated; the rest stays.
[[nodiscard]] TensorId rotated(GraphWriter& writer, TensorId x, const Rotation& rotation);

}  // namespace morton::ops
