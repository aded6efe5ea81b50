// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ops/core/expansion.hpp"
#include "ops/ml/ensemble_lists.hpp"
#include "ops/ml/ensemble_tensors.hpp"
#include "ops/ml/lists.hpp"
#include "ops/ml/scores.hpp"
#include "ops/ml/tree_packing.hpp"

namespace morton::ops {
namespace {

using Combine = problems::TreesStructure::Combine;

enum class Aggregate : std::uint8_t { average, sum, least, greatest };

Combine combine_of(Aggregate aggregate) {
  if (aggregate == Aggregate::least) return Combine::least;
  return aggregate == Aggregate::greatest ? Combine::greatest : Combine::sum;
}

constexpr std::int64_t kMostTargets = std::int64_t{1} << 20;

/// The type that trees are walked in: doubles stay doubles.
DType real_of(const NodeView& node) {
  return node.input(0).dtype == DType::f64 ? DType::f64 : DType::f32;
}

std::int64_t features_of(const NodeView& node) {
  const std::int64_t features = rows_of(node).features;
  if (features < 1) node.fail("its input has no features");
  return features;
}

/// Infinite where a target has no vote: that becomes 0.
Chain votes_or_zero(double none) {
  Chain chain;
  const ScalarRef x = ScalarRef::input(0);
  const ScalarRef is_none = chain.append(ScalarOp::equal, {x, ScalarRef::constant(none)});
  chain.append(ScalarOp::select, {is_none, ScalarRef::constant(0.0), x});
  return chain;
}

/// The votes [N, targets] of all trees.
TensorId votes_of_trees(Expansion& expansion, const Ensemble& ensemble, Aggregate aggregate) {
  const NodeView& node = expansion.node();
  const DType real = real_of(node);
  const Combine combine = combine_of(aggregate);
  const PackedTrees packed = pack_trees(node, ensemble, real, features_of(node), combine);
  const auto trees = static_cast<std::int64_t>(ensemble.roots.size());
  const std::int64_t ranges = ranges_of_trees(
      trees, static_cast<std::int64_t>(packed.nodes.bytes()), rows_of(node).rows, ensemble.targets);
  const TensorId parts =
      expansion.add("Trees",
                    {rows_as(expansion, real), expansion.constant(packed.nodes),
                     expansion.constant(packed.roots), expansion.constant(packed.votes)},
                    {{"ranges", ranges},
                     {"targets", ensemble.targets},
                     {"words", packed.words},
                     {"feature_bits", packed.feature_bits},
                     {"combine", static_cast<std::int64_t>(combine)}});
  const std::string_view reduce = combine == Combine::sum     ? "ReduceSum"
                                  : combine == Combine::least ? "ReduceMin"
                                                              : "ReduceMax";
  TensorId votes = ranges == 1 ? expansion.reshaped(parts, {rows_of(node).rows, ensemble.targets})
                               : expansion.add(reduce, {parts, expansion.list({0})},
                                               {{"keepdims", std::int64_t{0}}});
  if (combine != Combine::sum) {
    const double infinity = std::numeric_limits<double>::infinity();
    votes =
        expansion.chain(votes_or_zero(combine == Combine::least ? infinity : -infinity), {votes});
  }
  if (aggregate == Aggregate::average) {
    votes = expansion.add("Div", {votes, expansion.scalar(real, static_cast<double>(trees))});
  }
  return votes;
}

TensorId as_type(Expansion& expansion, TensorId value, DType type) {
  if (expansion.type_of(value) == type) return value;
  return expansion.add("CastLike", {value, expansion.scalar(type, 0.0)});
}

/// `base_values`, none or one for each target.
std::vector<double> base_values_of(const NodeView& node, std::int64_t targets) {
  const NumberList base = list_or_tensor(node, "base_values");
  if (!base.empty()) {
    require_length(node, "base_values", base.size(), targets, "one for each target, or none");
  }
  return base.reals();
}

TensorId plus(Expansion& expansion, TensorId scores, const std::vector<double>& values) {
  if (std::ranges::all_of(values, [](double value) { return value == 0.0; })) return scores;
  const auto count = static_cast<std::int64_t>(values.size());
  return expansion.add(
      "Add", {scores, reals_constant(expansion, expansion.type_of(scores), {1, count}, values)});
}

void check_targets(const NodeView& node, std::int64_t targets) {
  if (targets >= 1 && targets <= kMostTargets) return;
  node.fail("it has " + std::to_string(targets) + " targets, expected 1 to " +
            std::to_string(kMostTargets));
}

Ensemble regressor_trees(const NodeView& node) {
  const std::int64_t targets = node.integer("n_targets", 1);
  check_targets(node, targets);
  (void)features_of(node);
  return ensemble_of_lists(node, "target", targets);
}

Aggregate regressor_aggregate(const NodeView& node) {
  return static_cast<Aggregate>(
      choice_of(node, "aggregate_function", "SUM", {"AVERAGE", "SUM", "MIN", "MAX"}));
}

/// What the shape rules of all three check of the trees, before they are packed.
void check_trees(const NodeView& node, const Ensemble& ensemble) {
  (void)depths_of(node, ensemble);
}

std::vector<TensorType> infer_regressor(const NodeView& node) {
  const Ensemble trees = regressor_trees(node);
  check_trees(node, trees);
  (void)regressor_aggregate(node);
  (void)post_transform_of(node);
  (void)base_values_of(node, trees.targets);
  return {{DType::f32, {rows_of(node).rows, trees.targets}}};
}

std::vector<TensorId> expand_regressor(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Ensemble trees = regressor_trees(node);
  TensorId scores = votes_of_trees(expansion, trees, regressor_aggregate(node));
  scores = plus(expansion, scores, base_values_of(node, trees.targets));
  scores = as_type(expansion, scores, DType::f32);
  return {transformed(expansion, post_transform_of(node), scores)};
}

Aggregate new_aggregate(const NodeView& node) {
  const std::int64_t number = node.integer("aggregate_function", 1);
  if (number < 0 || number > 3) {
    node.fail("'aggregate_function' is " + std::to_string(number) + ", expected 0 to 3");
  }
  return static_cast<Aggregate>(number);
}

std::vector<TensorType> infer_new(const NodeView& node) {
  (void)features_of(node);
  if (node.input(0).dtype == DType::i32 || node.input(0).dtype == DType::i64) {
    node.fail("its input is " + std::string(name_of(node.input(0).dtype)) +
              ", expected f32, f64 or f16");
  }
  check_targets(node, node.integer("n_targets", 1));
  check_trees(node, ensemble_of_tensors(node));
  (void)new_aggregate(node);
  (void)post_transform_of(node);
  return {{node.input(0).dtype, {rows_of(node).rows, node.integer("n_targets", 1)}}};
}

std::vector<TensorId> expand_new(Expansion& expansion) {
  const NodeView& node = expansion.node();
  TensorId scores = votes_of_trees(expansion, ensemble_of_tensors(node), new_aggregate(node));
  scores = transformed(expansion, post_transform_of(node), scores);
  return {as_type(expansion, scores, node.input(0).dtype)};
}

Ensemble classifier_trees(const NodeView& node) {
  const std::int64_t classes = ClassLabels(node, "classlabels_int64s").size();
  if (classes < 2) node.unsupported("it has one class");
  check_targets(node, classes);
  (void)features_of(node);
  return ensemble_of_lists(node, "class", classes);
}

/// Of two classes ONNX's base values may be one, which then is of what class 0's votes are.
std::vector<double> classifier_base(const NodeView& node, std::int64_t classes) {
  const NumberList base = list_or_tensor(node, "base_values");
  if (classes == 2 && base.size() == 1) return {base.real(0)};
  return base_values_of(node, classes);
}

std::vector<TensorType> infer_classifier(const NodeView& node) {
  const Ensemble trees = classifier_trees(node);
  check_trees(node, trees);
  (void)post_transform_of(node);
  (void)classifier_base(node, trees.targets);
  const std::int64_t rows = rows_of(node).rows;
  return {{DType::i64, {rows}}, {DType::f32, {rows, trees.targets}}};
}

/// All votes of two classes are for one of them.
enum class OneSided : std::uint8_t { no, first, second };

OneSided sided(const Ensemble& trees) {
  std::set<std::int32_t> targets;
  for (const TreeVote& vote : trees.votes) targets.insert(vote.target);
  if (trees.targets != 2 || targets.size() != 1) return OneSided::no;
  return *targets.begin() == 0 ? OneSided::first : OneSided::second;
}

std::vector<TensorId> expand_classifier(Expansion& expansion) {
  const NodeView& node = expansion.node();
  Ensemble trees = classifier_trees(node);
  const ClassLabels labels(node, "classlabels_int64s");
  const PostTransform transform = post_transform_of(node);
  const std::vector<double> base = classifier_base(node, trees.targets);
  const OneSided side = sided(trees);
  const bool positive =
      std::ranges::all_of(trees.votes, [](const TreeVote& vote) { return vote.weight >= 0.0; });
  const double threshold = positive ? 0.5 : 0.0;
  if (side == OneSided::no) {
    TensorId scores = votes_of_trees(expansion, trees, Aggregate::sum);
    if (base.size() == 1) {
      scores = plus(expansion, scores, {base[0], 0.0});
    } else {
      scores = plus(expansion, scores, base);
    }
    scores = as_type(expansion, scores, DType::f32);
    return {labels.of_greatest(expansion, scores), transformed(expansion, transform, scores)};
  }
  trees.targets = 1;
  for (TreeVote& vote : trees.votes) vote.target = 0;
  TensorId score = votes_of_trees(expansion, trees, Aggregate::sum);
  if (side == OneSided::first && !base.empty()) score = plus(expansion, score, {base[0]});
  if (side == OneSided::second && base.size() == 2) score = plus(expansion, score, {base[1]});
  score = as_type(expansion, score, DType::f32);
  const TensorId label = labels.of_two(expansion, score, threshold);
  // All votes are class 0's, and mean class 1, as ONNX has it.
  if (side == OneSided::first && base.size() < 2) {
    return {label, two_scores(expansion, score, transform, positive ? 1.0 : 0.0)};
  }
  const double own = side == OneSided::second && base.size() == 2 ? base[0] : 0.0;
  const std::int64_t rows = rows_of(node).rows;
  const TensorId other = reals_constant(expansion, DType::f32, {rows, 1},
                                        std::vector<double>(static_cast<std::size_t>(rows), own));
  const TensorId both = side == OneSided::first ? joined(expansion, {score, other})
                                                : joined(expansion, {other, score});
  return {label, transformed(expansion, transform, both)};
}

std::vector<std::string_view> list_names(std::vector<std::string_view> own) {
  for (const std::string_view name :
       {"base_values", "base_values_as_tensor", "nodes_falsenodeids", "nodes_featureids",
        "nodes_hitrates", "nodes_hitrates_as_tensor", "nodes_missing_value_tracks_true",
        "nodes_modes", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values",
        "nodes_values_as_tensor", "post_transform"}) {
    own.push_back(name);
  }
  return own;
}

Operator tree_operator(std::string_view name, std::vector<std::string_view> attributes,
                       std::vector<TensorType> (*infer)(const NodeView& node),
                       std::vector<TensorId> (*expand)(Expansion& expansion)) {
  return {.name = name,
          .attributes = std::move(attributes),
          .since_opset = 1,
          .infer = infer,
          .expand = expand,
          .types = {DType::f32, DType::f64, DType::f16, DType::i32, DType::i64},
          .takes_epilogue = false,
          .home = Operator::Home::other};
}

}  // namespace

const OperatorTable& tree_ensemble_operators() {
  static const OperatorTable kTable{
      tree_operator(
          "ai.onnx.ml.TreeEnsemble",
          {"aggregate_function", "leaf_targetids", "leaf_weights", "membership_values", "n_targets",
           "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
           "nodes_missing_value_tracks_true", "nodes_modes", "nodes_splits", "nodes_trueleafs",
           "nodes_truenodeids", "post_transform", "tree_roots"},
          infer_new, expand_new),
      tree_operator(
          "ai.onnx.ml.TreeEnsembleClassifier",
          list_names({"class_ids", "class_nodeids", "class_treeids", "class_weights",
                      "class_weights_as_tensor", "classlabels_int64s", "classlabels_strings"}),
          infer_classifier, expand_classifier),
      tree_operator("ai.onnx.ml.TreeEnsembleRegressor",
                    list_names({"aggregate_function", "n_targets", "target_ids", "target_nodeids",
                                "target_treeids", "target_weights", "target_weights_as_tensor"}),
                    infer_regressor, expand_regressor),
  };
  return kTable;
}

}  // namespace morton::ops
