// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// A node of a tree, whatever the comparison: `outcomes` says what leads to the second child
/// (problems/classical.hpp). Of a leaf `first` is -1, `second` its first vote and `feature` their
/// number.
struct TreeNode {
  double threshold = 0.0;
  std::int32_t feature = 0;
  std::int32_t first = -1;
  std::int32_t second = 0;
  std::uint8_t outcomes = 0;

  [[nodiscard]] bool is_leaf() const { return first < 0; }
};

/// What a leaf adds to a target.
struct TreeVote {
  std::int32_t target = 0;
  double weight = 0.0;
};

/// The trees of a node, in one form for all operators.
struct Ensemble {
  std::vector<TreeNode> nodes;
  std::vector<TreeVote> votes;      ///< those of a leaf side by side
  std::vector<std::int32_t> roots;  ///< of each tree
  std::int64_t targets = 1;
};

/// ONNX's comparisons, as TreeEnsemble numbers them.
enum class BranchMode : std::uint8_t {
  less_equal = 0,
  less = 1,
  greater_equal = 2,
  greater = 3,
  equal = 4,
  not_equal = 5,
  member = 6,
  leaf = 7,
};

/// Which child a NaN leads to.
enum class Missing : std::uint8_t { as_compared, to_true };

/// A node whose true child is `first`: features of type f32 are compared with what double says of
/// the threshold exactly.
[[nodiscard]] TreeNode tree_branch(BranchMode mode, double threshold, Missing missing,
                                   DType feature_type);

/// Steps from each root to its deepest leaf. Throws ModelError for a cycle.
[[nodiscard]] std::vector<std::int32_t> depths_of(const NodeView& node, const Ensemble& ensemble);

}  // namespace morton::ops
