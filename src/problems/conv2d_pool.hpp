// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/algebra/chain.hpp"
#include "base/rooms.hpp"
#include "problems/convolution.hpp"
#include "problems/pool2d.hpp"

namespace morton::problems {

/// conv2d_pool: a convolution with a bias, what is done to each of its values, and the pool behind,
/// of which only the pool's result is stored.
///
///   r[N,O,RH,RW] = MAP(bias[O] + conv2d(src[N,C,H,W], weights[O,I,KH,KW]))
///   dst[N,O,OH,OW] = epilogue(pool of r)
///
/// The pool is average_pool2d or max_pool2d. Parameters RH RW. The plan makes such problems of two
/// nodes of a graph (plan/search/join_pools.hpp).

/// What is done to a sum with its bias before it is pooled: v, max(v, 0), tanh(v) or
/// 1 / (1 + exp(-v)).
enum class PooledMap : std::uint8_t { none = 0, relu = 1, tanh = 2, sigmoid = 3 };

/// conv2d's structure, and the pool's under names of its own.
struct Conv2dPoolStructure {
  Conv2dStructure conv;
  PooledMap map = PooledMap::none;
  SlidingWindow window;             ///< of the pool: QH QW UH UW QT QL, without dilation
  SlidingWindow::Pair after{0, 0};  ///< of a mean: QB QR
  enum class Combine : std::uint8_t { mean = 0, largest = 3 } combine = Combine::mean;
  PoolCount count = PoolCount::inside;  ///< of a mean

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    Conv2dStructure::fields(self.conv, field);
    field("MAP", self.map);
    field("QH", self.window.kernel[0]);
    field("QW", self.window.kernel[1]);
    field("UH", self.window.stride[0]);
    field("UW", self.window.stride[1]);
    field("QT", self.window.before[0]);
    field("QL", self.window.before[1]);
    field("QB", self.after[0]);
    field("QR", self.after[1]);
    field("COMBINE", self.combine);
    field("COUNT_PAD", self.count);
  }
};

/// The map as a chain over input 0. Throws InternalError for a map that there is not.
[[nodiscard]] Chain pooled_map(PooledMap map);

/// The map of `epilogue`, a chain that adds its input 1, a bias, to input 0 and then does what a
/// map does; nothing where it is something else.
[[nodiscard]] std::optional<PooledMap> pooled_map_behind_bias(const Chain& epilogue);

}  // namespace morton::problems
