// SPDX-License-Identifier: Apache-2.0
//
// ai.onnx.ml 5's TreeEnsemble: a node is named by its place in the lists, leaves have lists of
// their own.
#include "ops/ml/ensemble_tensors.hpp"

#include <cmath>
#include <limits>

#include "ops/ml/lists.hpp"

namespace morton::ops {
namespace {

constexpr std::int64_t kMostTensorNodes = std::numeric_limits<std::int32_t>::max() / 8;

struct TensorLists {
  NumberList features, splits, modes, true_ids, false_ids, true_leaves, false_leaves, missing;
  NumberList leaf_targets, leaf_weights, roots, members;
};

TensorLists tensor_lists(const NodeView& node) {
  TensorLists lists{{node, "nodes_featureids"},   {node, "nodes_splits"},
                    {node, "nodes_modes"},        {node, "nodes_truenodeids"},
                    {node, "nodes_falsenodeids"}, {node, "nodes_trueleafs"},
                    {node, "nodes_falseleafs"},   {node, "nodes_missing_value_tracks_true"},
                    {node, "leaf_targetids"},     {node, "leaf_weights"},
                    {node, "tree_roots"},         {node, "membership_values"}};
  const std::int64_t count = lists.features.size();
  constexpr std::string_view kWhat = "one for each node of 'nodes_featureids'";
  if (count == 0 || lists.roots.empty()) {
    node.fail("it has no trees: 'nodes_featureids' or 'tree_roots' is missing or empty");
  }
  if (count + lists.members.size() + lists.leaf_weights.size() > kMostTensorNodes) {
    node.unsupported("its trees have more than " + std::to_string(kMostTensorNodes) + " nodes");
  }
  require_length(node, "nodes_splits", lists.splits.size(), count, kWhat);
  require_length(node, "nodes_modes", lists.modes.size(), count, kWhat);
  require_length(node, "nodes_truenodeids", lists.true_ids.size(), count, kWhat);
  require_length(node, "nodes_falsenodeids", lists.false_ids.size(), count, kWhat);
  require_length(node, "nodes_trueleafs", lists.true_leaves.size(), count, kWhat);
  require_length(node, "nodes_falseleafs", lists.false_leaves.size(), count, kWhat);
  if (!lists.missing.empty()) {
    require_length(node, "nodes_missing_value_tracks_true", lists.missing.size(), count, kWhat);
  }
  require_length(node, "leaf_weights", lists.leaf_weights.size(), lists.leaf_targets.size(),
                 "one for each leaf of 'leaf_targetids'");
  return lists;
}

/// Makes one list of the inner nodes, then the leaves, then what sets of members need further.
class TensorReader {
 public:
  explicit TensorReader(const NodeView& node) : node_(node), lists_(tensor_lists(node)) {
    result_.targets = node.integer("n_targets", 1);
    if (result_.targets < 1) node.fail("'n_targets' is " + std::to_string(result_.targets));
  }

  Ensemble read() {
    const std::int64_t count = lists_.features.size();
    result_.nodes.resize(static_cast<std::size_t>(count));
    for (std::int64_t l = 0; l < lists_.leaf_targets.size(); ++l) add_leaf(l);
    for (std::int64_t i = 0; i < count; ++i) add_inner(i);
    for (std::int64_t t = 0; t < lists_.roots.size(); ++t) {
      const std::int64_t root = lists_.roots.whole(t);
      if (root < 0 || root >= count) {
        node_.fail("tree " + std::to_string(t) + " starts at node " + std::to_string(root) +
                   "; there are " + std::to_string(count));
      }
      result_.roots.push_back(static_cast<std::int32_t>(root));
    }
    return std::move(result_);
  }

 private:
  void add_leaf(std::int64_t l) {
    const std::int64_t target = lists_.leaf_targets.whole(l);
    if (target < 0 || target >= result_.targets) {
      node_.fail("leaf " + std::to_string(l) + " is for target " + std::to_string(target) +
                 ", expected 0 to " + std::to_string(result_.targets - 1));
    }
    TreeNode leaf;
    leaf.feature = 1;
    leaf.second = static_cast<std::int32_t>(result_.votes.size());
    result_.nodes.push_back(leaf);
    result_.votes.push_back({static_cast<std::int32_t>(target), lists_.leaf_weights.real(l)});
  }

  [[nodiscard]] std::int32_t child(std::int64_t i, const NumberList& ids,
                                   const NumberList& leaves) const {
    const std::int64_t id = ids.whole(i);
    const bool is_leaf = leaves.whole(i) != 0;
    const std::int64_t count = is_leaf ? lists_.leaf_targets.size() : lists_.features.size();
    if (id < 0 || id >= count) {
      node_.fail("node " + std::to_string(i) + " has the child " + std::to_string(id) +
                 "; there are " + std::to_string(count) + (is_leaf ? " leaves" : " nodes"));
    }
    return static_cast<std::int32_t>(is_leaf ? lists_.features.size() + id : id);
  }

  void add_inner(std::int64_t i) {
    const std::int64_t number = lists_.modes.whole(i);
    if (number < 0 || number > static_cast<std::int64_t>(BranchMode::member)) {
      node_.fail("node " + std::to_string(i) + " has the mode " + std::to_string(number) +
                 ", expected 0 to 6");
    }
    const auto mode = static_cast<BranchMode>(number);
    const std::int64_t feature = lists_.features.whole(i);
    const std::int64_t features = rows_of(node_).features;
    if (feature < 0 || feature >= features) {
      node_.fail("node " + std::to_string(i) + " reads feature " + std::to_string(feature) +
                 "; its input has " + std::to_string(features));
    }
    const bool to_true = !lists_.missing.empty() && lists_.missing.whole(i) == 1;
    const auto missing = to_true ? Missing::to_true : Missing::as_compared;
    TreeNode own = tree_branch(mode, lists_.splits.real(i), missing, node_.input(0).dtype);
    own.feature = static_cast<std::int32_t>(feature);
    own.first = child(i, lists_.true_ids, lists_.true_leaves);
    own.second = child(i, lists_.false_ids, lists_.false_leaves);
    if (mode == BranchMode::member) own = first_of_members(i, own, missing);
    result_.nodes[static_cast<std::size_t>(i)] = own;
  }

  /// A node for each member of the set, one behind the other; the first takes the node's place.
  TreeNode first_of_members(std::int64_t i, TreeNode own, Missing missing) {
    if (member_ >= lists_.members.size()) {
      node_.fail("'membership_values' has no set for node " + std::to_string(i));
    }
    std::vector<double> members;
    while (member_ < lists_.members.size() && !std::isnan(lists_.members.real(member_))) {
      members.push_back(lists_.members.real(member_++));
    }
    ++member_;  // the NaN behind the set
    if (members.empty()) {
      own.outcomes = missing == Missing::to_true ? 7 : 15;
      return own;
    }
    std::int32_t next = own.second;
    for (std::size_t m = members.size(); m-- > 0;) {
      TreeNode one = tree_branch(BranchMode::equal, members[m], missing, node_.input(0).dtype);
      one.feature = own.feature;
      one.first = own.first;
      one.second = next;
      if (m == 0) return one;
      next = static_cast<std::int32_t>(result_.nodes.size());
      result_.nodes.push_back(one);
    }
    return own;
  }

  const NodeView& node_;
  TensorLists lists_;
  Ensemble result_;
  std::int64_t member_ = 0;  ///< the next of membership_values
};

}  // namespace

Ensemble ensemble_of_tensors(const NodeView& node) { return TensorReader(node).read(); }

}  // namespace morton::ops
