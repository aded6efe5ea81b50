// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace morton::ops {
namespace {

constexpr std::uint8_t kLess = 1;
constexpr std::uint8_t kEqual = 2;
constexpr std::uint8_t kGreater = 4;
constexpr std::uint8_t kNoNumber = 8;

/// What leads to the true child.
std::uint8_t true_outcomes(BranchMode mode) {
  switch (mode) {
    case BranchMode::less_equal:
      return kLess | kEqual;
    case BranchMode::less:
      return kLess;
    case BranchMode::greater_equal:
      return kEqual | kGreater;
    case BranchMode::greater:
      return kGreater;
    case BranchMode::equal:
    case BranchMode::member:
      return kEqual;
    case BranchMode::not_equal:
      return kLess | kGreater | kNoNumber;
    case BranchMode::leaf:
      break;
  }
  return 0;
}

/// The deepest leaf below each node, by a walk without recursion.
class DepthFinder {
 public:
  DepthFinder(const NodeView& node, const Ensemble& ensemble)
      : node_(node), ensemble_(ensemble), depth_(ensemble.nodes.size(), kUnknown) {}

  /// A node that two lead to is reached by one step more from one of them (pack_trees).
  std::int32_t below(std::int32_t root) {
    open_.push_back(root);
    while (!open_.empty()) {
      const std::int32_t at = open_.back();
      const TreeNode& own = ensemble_.nodes[static_cast<std::size_t>(at)];
      std::int32_t& depth = depth_[static_cast<std::size_t>(at)];
      if (own.is_leaf()) {
        depth = 0;
        open_.pop_back();
      } else if (depth == kUnknown) {
        depth = kOpen;
        for (const std::int32_t child : {own.first, own.second}) {
          const std::int32_t known = depth_[static_cast<std::size_t>(child)];
          if (known == kOpen) {
            node_.fail("its trees have a cycle: node " + std::to_string(child) +
                       " of the list leads back to itself");
          }
          if (known == kUnknown) open_.push_back(child);
          if (known > 0) ++shared_;
        }
        if (own.first == own.second) ++shared_;
      } else {
        open_.pop_back();
        if (depth == kOpen) {
          depth = 1 + std::max(depth_[static_cast<std::size_t>(own.first)],
                               depth_[static_cast<std::size_t>(own.second)]);
        } else {
          ++shared_;
        }
      }
    }
    const std::int32_t depth = depth_[static_cast<std::size_t>(root)];
    return depth + std::min(depth, shared_);
  }

 private:
  static constexpr std::int32_t kUnknown = -1;
  static constexpr std::int32_t kOpen = -2;

  const NodeView& node_;
  const Ensemble& ensemble_;
  std::vector<std::int32_t> depth_;
  std::vector<std::int32_t> open_;
  std::int32_t shared_ = 0;  ///< nodes that another leads to too, of all trees so far
};

}  // namespace

TreeNode tree_branch(BranchMode mode, double threshold, Missing missing, DType feature_type) {
  TreeNode result;
  std::uint8_t to_true = true_outcomes(mode);
  if (std::isnan(threshold)) {
    // No number compares with it: all take the way of one that does not.
    to_true = (to_true & kNoNumber) != 0 ? kLess | kEqual | kGreater | kNoNumber : 0;
    threshold = 0.0;
  }
  if (feature_type != DType::f64) {
    // Between two neighbours of f32: what equals the lower one is below the threshold.
    auto narrow = static_cast<float>(threshold);
    if (static_cast<double>(narrow) > threshold) {
      narrow = std::nextafter(narrow, -std::numeric_limits<float>::infinity());
    }
    if (static_cast<double>(narrow) < threshold) {
      const bool below = (to_true & kLess) != 0;
      to_true = static_cast<std::uint8_t>((to_true & ~kEqual) | (below ? kEqual : 0));
    }
    threshold = static_cast<double>(narrow);
  }
  if (missing == Missing::to_true) to_true |= kNoNumber;
  result.threshold = threshold;
  result.outcomes = static_cast<std::uint8_t>(~to_true & 15);
  return result;
}

std::vector<std::int32_t> depths_of(const NodeView& node, const Ensemble& ensemble) {
  DepthFinder finder(node, ensemble);
  std::vector<std::int32_t> depths;
  for (const std::int32_t root : ensemble.roots) depths.push_back(finder.below(root));
  return depths;
}

}  // namespace morton::ops
