// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/algebra/chain.hpp"

namespace morton {

// The family conv2d_pool: a convolution with a bias, what is done to each of its values, and the
// pool behind, of which only the pool's result is stored.
//
//   r[N,O,RH,RW] = MAP(bias[O] + conv2d(src[N,C,H,W], weights[O,I,KH,KW]))
//   dst[N,O,OH,OW] = epilogue(pool of r)
//
// Its structure is conv2d's, MAP (0: v, 1: max(v, 0), 2: tanh(v), 3: 1 / (1 + exp(-v))), and the
// pool's: COMBINE (0: the mean, as average_pool2d; 3: the largest, as max_pool2d), its window QH
// QW, strides UH UW, padding QT QL above and to the left, and, of a mean, QB QR below and to the
// right and COUNT_PAD. Parameters RH RW. The plan makes such problems of two nodes of a graph
// (plan/search/join_pools.hpp).

/// What conv2d_pool does to a sum with its bias before it is pooled: the chain of structure MAP
/// (base/problem.hpp), over input 0. Throws InternalError for a number that there is not.
[[nodiscard]] Chain pooled_map(std::int64_t map);

/// The MAP of `epilogue`, a chain that adds its input 1, a bias, to input 0 and then does what a
/// MAP does; nothing where it is something else.
[[nodiscard]] std::optional<std::int64_t> pooled_map_behind_bias(const Chain& epilogue);

}  // namespace morton
