// SPDX-License-Identifier: Apache-2.0
//
// TreeEnsembleRegressor's and TreeEnsembleClassifier's lists: a node is named by its tree and a
// number.
#include "ops/ml/ensemble_lists.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "ops/ml/lists.hpp"

namespace morton::ops {
namespace {

constexpr std::int64_t kMostNodes = std::numeric_limits<std::int32_t>::max() / 8;

const std::vector<std::string_view>& mode_names() {
  static const std::vector<std::string_view> kNames{"BRANCH_LEQ",    "BRANCH_LT", "BRANCH_GTE",
                                                    "BRANCH_GT",     "BRANCH_EQ", "BRANCH_NEQ",
                                                    "BRANCH_MEMBER", "LEAF"};
  return kNames;
}

/// The comparisons: a list of texts, or the numbers that a file's texts became.
std::vector<BranchMode> modes_of(const NodeView& node) {
  std::vector<BranchMode> modes;
  const auto found = node.node().attributes.find("nodes_modes");
  if (found != node.node().attributes.end() && std::holds_alternative<Tensor>(found->second)) {
    const Tensor& numbers = std::get<Tensor>(found->second);
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
      const double number = numbers.at(i);
      if (!(number >= 0.0 && number <= static_cast<double>(BranchMode::leaf))) {
        node.fail("the mode of a node is no comparison that ONNX has");
      }
      modes.push_back(static_cast<BranchMode>(number));
    }
    return modes;
  }
  for (const std::string& text : texts_of(node, "nodes_modes")) {
    const auto place = std::ranges::find(mode_names(), text);
    if (place == mode_names().end())
      node.fail("the mode of a node is '" + text.substr(0, 40) + "'");
    modes.push_back(static_cast<BranchMode>(place - mode_names().begin()));
  }
  return modes;
}

/// Where the node of a tree stands in the lists.
class NodePlaces {
 public:
  NodePlaces(const NodeView& node, const NumberList& trees, const NumberList& ids) {
    std::int64_t run = 0;
    for (std::int64_t i = 0; i < trees.size(); ++i) {
      if (i == 0 || trees.whole(i) != trees.whole(i - 1)) {
        run = i;
        is_plain_ = starts_.emplace(trees.whole(i), i).second && is_plain_;
        roots_.push_back(static_cast<std::int32_t>(i));
      }
      is_plain_ = is_plain_ && ids.whole(i) == i - run;
      lengths_[trees.whole(run)] = i - run + 1;
    }
    if (is_plain_) return;
    for (std::int64_t i = 0; i < trees.size(); ++i) {
      sorted_.emplace_back(trees.whole(i), ids.whole(i), static_cast<std::int32_t>(i));
    }
    std::ranges::sort(sorted_);
    for (std::size_t i = 1; i < sorted_.size(); ++i) {
      const auto& [tree, id, place] = sorted_[i];
      if (std::get<0>(sorted_[i - 1]) != tree || std::get<1>(sorted_[i - 1]) != id) continue;
      node.fail("node " + std::to_string(id) + " of tree " + std::to_string(tree) +
                " is given twice");
    }
    keep_first_roots(trees);
  }

  /// -1 where there is none.
  [[nodiscard]] std::int32_t place(std::int64_t tree, std::int64_t id) const {
    if (is_plain_) {
      const auto start = starts_.find(tree);
      if (start == starts_.end() || id < 0 || id >= lengths_.at(tree)) return -1;
      return static_cast<std::int32_t>(start->second + id);
    }
    const auto found = std::ranges::lower_bound(sorted_, std::tuple(tree, id, std::int32_t{0}));
    if (found == sorted_.end() || std::get<0>(*found) != tree || std::get<1>(*found) != id) {
      return -1;
    }
    return std::get<2>(*found);
  }

  /// The first node of each tree.
  [[nodiscard]] const std::vector<std::int32_t>& roots() const { return roots_; }

 private:
  void keep_first_roots(const NumberList& trees) {
    std::erase_if(roots_, [&](std::int32_t root) { return starts_.at(trees.whole(root)) != root; });
  }

  bool is_plain_ = true;  ///< each tree's nodes stand together and are numbered from 0
  std::map<std::int64_t, std::int64_t> starts_;
  std::map<std::int64_t, std::int64_t> lengths_;
  std::vector<std::int32_t> roots_;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int32_t>> sorted_;
};

/// The lists that describe nodes, all of one length.
struct NodeLists {
  NumberList trees, ids, features, thresholds, true_ids, false_ids, missing;
  std::vector<BranchMode> modes;
};

NodeLists node_lists(const NodeView& node) {
  NodeLists lists{{node, "nodes_treeids"},
                  {node, "nodes_nodeids"},
                  {node, "nodes_featureids"},
                  list_or_tensor(node, "nodes_values"),
                  {node, "nodes_truenodeids"},
                  {node, "nodes_falsenodeids"},
                  {node, "nodes_missing_value_tracks_true"},
                  modes_of(node)};
  const std::int64_t count = lists.trees.size();
  if (count == 0) node.fail("it has no trees: 'nodes_treeids' is missing or empty");
  if (count > kMostNodes) {
    node.unsupported("its trees have more than " + std::to_string(kMostNodes) + " nodes");
  }
  constexpr std::string_view kWhat = "one for each node of 'nodes_treeids'";
  require_length(node, "nodes_nodeids", lists.ids.size(), count, kWhat);
  require_length(node, "nodes_featureids", lists.features.size(), count, kWhat);
  require_length(node, "nodes_values", lists.thresholds.size(), count, kWhat);
  require_length(node, "nodes_truenodeids", lists.true_ids.size(), count, kWhat);
  require_length(node, "nodes_falsenodeids", lists.false_ids.size(), count, kWhat);
  require_length(node, "nodes_modes", static_cast<std::int64_t>(lists.modes.size()), count, kWhat);
  if (!lists.missing.empty()) {
    require_length(node, "nodes_missing_value_tracks_true", lists.missing.size(), count, kWhat);
  }
  return lists;
}

/// "node 3 of tree 1", for messages.
std::string name_in(const NodeLists& lists, std::int64_t i) {
  return "node " + std::to_string(lists.ids.whole(i)) + " of tree " +
         std::to_string(lists.trees.whole(i));
}

std::int32_t child_of(const NodeView& node, const NodeLists& lists, const NodePlaces& places,
                      std::int64_t i, std::int64_t id) {
  const std::int32_t child = places.place(lists.trees.whole(i), id);
  if (child < 0) {
    node.fail(name_in(lists, i) + " has the child " + std::to_string(id) +
              ", which is no node of the tree");
  }
  return child;
}

TreeNode branch_of(const NodeView& node, const NodeLists& lists, const NodePlaces& places,
                   std::int64_t i) {
  const std::int64_t features = rows_of(node).features;
  const std::int64_t feature = lists.features.whole(i);
  const BranchMode mode = lists.modes[static_cast<std::size_t>(i)];
  if (mode == BranchMode::member) {
    node.fail(name_in(lists, i) + " has the mode BRANCH_MEMBER, which only TreeEnsemble has");
  }
  if (feature < 0 || feature >= features) {
    node.fail(name_in(lists, i) + " reads feature " + std::to_string(feature) + "; its input has " +
              std::to_string(features));
  }
  const bool to_true = !lists.missing.empty() && lists.missing.whole(i) == 1;
  TreeNode result =
      tree_branch(mode, lists.thresholds.real(i), to_true ? Missing::to_true : Missing::as_compared,
                  node.input(0).dtype);
  result.feature = static_cast<std::int32_t>(feature);
  result.first = child_of(node, lists, places, i, lists.true_ids.whole(i));
  result.second = child_of(node, lists, places, i, lists.false_ids.whole(i));
  return result;
}

/// The votes of all leaves, those of one side by side in the model's order.
void add_votes(const NodeView& node, const std::string& votes, const NodePlaces& places,
               Ensemble& to) {
  const NumberList trees(node, votes + "_treeids");
  const NumberList ids(node, votes + "_nodeids");
  const NumberList targets(node, votes + "_ids");
  const NumberList weights = list_or_tensor(node, votes + "_weights");
  const std::string what = "one for each vote of '" + votes + "_treeids'";
  require_length(node, votes + "_nodeids", ids.size(), trees.size(), what);
  require_length(node, votes + "_ids", targets.size(), trees.size(), what);
  require_length(node, votes + "_weights", weights.size(), trees.size(), what);
  std::vector<std::int32_t> leaves;
  for (std::int64_t v = 0; v < trees.size(); ++v) {
    const std::int32_t leaf = places.place(trees.whole(v), ids.whole(v));
    const std::int64_t target = targets.whole(v);
    if (leaf < 0) {
      node.fail("a vote is of node " + std::to_string(ids.whole(v)) + " of tree " +
                std::to_string(trees.whole(v)) + ", which does not exist");
    }
    if (target < 0 || target >= to.targets) {
      node.fail("a vote is for number " + std::to_string(target) + " of '" + votes +
                "_ids', expected 0 to " + std::to_string(to.targets - 1));
    }
    leaves.push_back(leaf);
    ++to.nodes[static_cast<std::size_t>(leaf)].feature;
  }
  // Inner nodes count too, and lose their count: what is written at them is never read.
  std::int32_t place = 0;
  std::vector<std::int32_t> next(to.nodes.size(), 0);
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    next[i] = place;
    if (to.nodes[i].is_leaf()) to.nodes[i].second = place;
    place += to.nodes[i].feature;
  }
  to.votes.resize(leaves.size());
  for (std::size_t v = 0; v < leaves.size(); ++v) {
    const auto at = static_cast<std::int64_t>(v);
    to.votes[static_cast<std::size_t>(next[static_cast<std::size_t>(leaves[v])]++)] = {
        static_cast<std::int32_t>(targets.whole(at)), weights.real(at)};
  }
}

}  // namespace

Ensemble ensemble_of_lists(const NodeView& node, const std::string& votes, std::int64_t targets) {
  const NodeLists lists = node_lists(node);
  const NodePlaces places(node, lists.trees, lists.ids);
  Ensemble result;
  result.targets = targets;
  result.roots = places.roots();
  result.nodes.resize(static_cast<std::size_t>(lists.trees.size()));
  // Votes first, where a branch is still a leaf without features.
  add_votes(node, votes, places, result);
  for (std::int64_t i = 0; i < lists.trees.size(); ++i) {
    if (lists.modes[static_cast<std::size_t>(i)] == BranchMode::leaf) continue;
    result.nodes[static_cast<std::size_t>(i)] = branch_of(node, lists, places, i);
  }
  return result;
}

}  // namespace morton::ops
