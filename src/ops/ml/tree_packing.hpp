// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/ml/ensemble.hpp"
#include "problems/classical.hpp"

namespace morton::ops {

/// Trees as the words that kernels read (problems/classical.hpp).
struct PackedTrees {
  Tensor nodes;  ///< i32
  Tensor roots;
  Tensor votes;
  std::int64_t words = 2;
  std::int64_t feature_bits = 0;
};

/// Breadth-first, so that the nodes that all rows pass lie together and both children of one in a
/// single line of the cache. With one target a leaf has what its votes combine to. Weights and
/// thresholds are of type `real`, f32 or f64. Throws ModelError for cycles, UnsupportedError for
/// more words than can be counted.
[[nodiscard]] PackedTrees pack_trees(const NodeView& node, const Ensemble& ensemble, DType real,
                                     std::int64_t features,
                                     problems::TreesStructure::Combine combine);

/// Ranges into which a batch's trees are divided: as many as keep the nodes of one in a processor's
/// own cache, and more for a few rows, so that all units of a device have work. Fewer where the
/// sums of all ranges, for each row and target, would take much memory.
[[nodiscard]] std::int64_t ranges_of_trees(std::int64_t trees, std::int64_t bytes,
                                           std::int64_t rows, std::int64_t targets);

}  // namespace morton::ops
