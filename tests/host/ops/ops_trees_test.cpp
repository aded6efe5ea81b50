// SPDX-License-Identifier: Apache-2.0
//
// Trees before they are words: comparisons as outcomes, and their packing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/ml/lists.hpp"
#include "ops/ml/tree_packing.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ops::BranchMode;
using ops::Missing;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What ONNX says: C's comparison, and the true child of a NaN where that is tracked.
bool leads_to_true(BranchMode mode, float x, double threshold, Missing missing) {
  if (std::isnan(x) && missing == Missing::to_true) return true;
  const auto value = static_cast<double>(x);
  switch (mode) {
    case BranchMode::less_equal:
      return value <= threshold;
    case BranchMode::less:
      return value < threshold;
    case BranchMode::greater_equal:
      return value >= threshold;
    case BranchMode::greater:
      return value > threshold;
    case BranchMode::equal:
      return value == threshold;
    default:
      return value != threshold;
  }
}

TEST(Trees, OutcomesAreEveryComparisonOfEveryNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float numbers[] = {-kInfinity, -1.0F, -0.0F, 0.0F, 1e-45F, 0.1F, 1.0F, kInfinity, kNan};
  const double thresholds[] = {-1.0,
                               0.0,
                               -0.0,
                               0.1,
                               static_cast<double>(0.1F),
                               1.0,
                               1e300,
                               -1e300,
                               static_cast<double>(kNan),
                               static_cast<double>(kInfinity)};
  for (int mode = 0; mode < 6; ++mode) {
    for (const Missing missing : {Missing::as_compared, Missing::to_true}) {
      for (const double threshold : thresholds) {
        const ops::TreeNode node =
            tree_branch(static_cast<BranchMode>(mode), threshold, missing, DType::f32);
        for (const float x : numbers) {
          const std::uint32_t found = tree_outcome(static_cast<double>(x), node.threshold);
          const bool second = (node.outcomes >> found & 1U) != 0;
          EXPECT_NE(second, leads_to_true(static_cast<BranchMode>(mode), x, threshold, missing))
              << "mode " << mode << ": " << x << " and " << threshold;
        }
      }
    }
  }
}

TEST(Trees, AFewRowsAndManyNodesAreDividedIntoRanges) {
  EXPECT_EQ(ops::ranges_of_trees(1000, 1000, 100'000, 1), 1);
  EXPECT_EQ(ops::ranges_of_trees(1000, std::int64_t{4} << 20, 100'000, 1), 16);
  EXPECT_EQ(ops::ranges_of_trees(1000, 1000, 1, 1), 256);
  EXPECT_EQ(ops::ranges_of_trees(3, std::int64_t{4} << 20, 1, 1), 3);
  // Of a million rows and ten targets the sums of six ranges take 240 MB.
  EXPECT_EQ(ops::ranges_of_trees(1000, std::int64_t{256} << 20, 1'000'000, 10), 6);
  EXPECT_EQ(ops::ranges_of_trees(1000, std::int64_t{256} << 20, 1'000'000'000, 10), 1);
}

/// Kernels take so many steps and no more: a tree that is a part of another must have all of them.
TEST(Trees, ATreeInsideAnotherIsAsDeepAsItIsAlone) {
  const auto branch = [](std::int32_t first, std::int32_t second) {
    ops::TreeNode node;
    node.first = first;
    node.second = second;
    return node;
  };
  ops::Ensemble ensemble;
  // 0 leads to 1 twice, 1 to 2 twice, 2 to two leaves: a second way to a node takes a step more.
  ensemble.nodes = {branch(1, 1), branch(2, 2), branch(3, 4), {}, {}};
  ensemble.roots = {0, 0, 1};
  Node node;
  node.op = "ai.onnx.ml.TreeEnsemble";
  const Graph graph;
  const std::vector<std::int32_t> depths = depths_of(ops::NodeView(graph, node), ensemble);
  EXPECT_GE(depths[0], 5);
  EXPECT_GE(depths[1], 5);
  EXPECT_GE(depths[2], 3);
}

TEST(MlLists, WholeNumbersKeepAllDigits) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  Tensor numbers = Tensor::allocate(DType::i64, {2});
  numbers.as_mutable<std::int64_t>()[0] = kOdd;
  numbers.as_mutable<std::int64_t>()[1] = -kOdd;
  const Tensor same = ops::NumberList(numbers).tensor(DType::i64, {1, 2});
  EXPECT_EQ(same.as<std::int64_t>()[0], kOdd);
  EXPECT_EQ(same.as<std::int64_t>()[1], -kOdd);
  Tensor reals = Tensor::allocate(DType::f32, {2});
  reals.set(0, static_cast<double>(kNan));
  reals.set(1, 1e30);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ops::NumberList(reals).whole(i), std::numeric_limits<std::int64_t>::min());
  }
}

}  // namespace
}  // namespace morton::test
