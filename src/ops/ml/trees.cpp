// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/summation.hpp"
#include "problems/classical.hpp"

namespace morton::ops {
namespace {

using Combine = TreesStructure::Combine;
using Targets = TreesStructure::Targets;

/// Inputs of the node.
enum : std::size_t { kRowsOfTrees, kNodesOfTrees, kRootsOfTrees, kVotesOfTrees };

struct TreesSizes {
  std::int64_t rows, features, trees, ranges, targets, bits;
  TreesStructure structure;
};

TreesSizes trees_sizes(const NodeView& node) {
  TreesSizes sizes{};
  const Shape rows = node.input(kRowsOfTrees).shape;
  if (rows.size() != 2) node.fail("its rows have the shape " + to_string(rows));
  sizes.rows = rows[0];
  sizes.features = rows[1];
  sizes.trees = element_count(node.input(kRootsOfTrees).shape) / 2;
  sizes.ranges = node.integer("ranges", 1);
  sizes.targets = node.integer("targets", 1);
  sizes.bits = node.integer("feature_bits", 1);
  sizes.structure.words = node.integer("words", 2);
  sizes.structure.targets = sizes.targets == 1 ? Targets::one : Targets::several;
  sizes.structure.combine = static_cast<Combine>(node.integer("combine", 0));
  return sizes;
}

/// Whether the words of each record lead to records that are there, and to features and votes that
/// are: kernels check nothing.
void check_words(const NodeView& node, const TreesSizes& sizes) {
  const Tensor& nodes = node.value(kNodesOfTrees);
  const Tensor& roots = node.value(kRootsOfTrees);
  const Tensor& votes = node.value(kVotesOfTrees);
  const auto word = [&](std::int64_t i) { return static_cast<std::int32_t>(nodes.at(i)); };
  const std::int64_t records = nodes.size() / sizes.structure.words;
  const std::int64_t vote_words = sizes.structure.words == 4 ? 3 : 2;
  std::int64_t root = 0;
  for (std::int64_t t = 0; t < sizes.trees; ++t) {
    const auto end = t + 1 < sizes.trees ? static_cast<std::int64_t>(roots.at(2 * t + 2)) : records;
    root = static_cast<std::int64_t>(roots.at(2 * t));
    if (root < 0 || end <= root || end > records) node.fail("a tree has no records");
    for (std::int64_t r = root; r < end; ++r) {
      const TreeRecord record = tree_record(word, r, sizes.structure.words, sizes.bits);
      const std::int64_t child = record.child + (record.outcomes != 0 ? 1 : 0);
      const bool is_leaf = record.outcomes == 0 && record.child == r - root;
      const bool has_votes = !is_leaf || sizes.structure.targets == Targets::one ||
                             std::int64_t{record.first_word} + vote_words <= votes.size();
      if (child < end - root && record.feature < sizes.features && has_votes) continue;
      node.fail("record " + std::to_string(r) + " leads to what is not there");
    }
  }
  if (sizes.structure.targets == Targets::one) return;
  const bool is_ended = votes.size() % vote_words == 0 &&
                        static_cast<std::int64_t>(votes.at(votes.size() - vote_words)) % 2 == 0;
  if (!is_ended) node.fail("its votes do not end");
  for (std::int64_t v = 0; v < votes.size(); v += vote_words) {
    const auto target = static_cast<std::int64_t>(votes.at(v)) / 2;
    if (target < 0 || target >= sizes.targets) node.fail("a vote is for no target");
  }
}

std::vector<TensorType> infer_trees(const NodeView& node) {
  const TreesSizes sizes = trees_sizes(node);
  const DType type = node.input(kRowsOfTrees).dtype;
  const bool is_f64 = sizes.structure.words == 4;
  if (is_f64 != (type == DType::f64) || sizes.structure.words < 2 || sizes.structure.words > 4 ||
      sizes.trees < 1 || sizes.features < 1 || sizes.targets < 1 || sizes.ranges < 1 ||
      sizes.bits < 1 || sizes.bits > 28) {
    node.fail("its sizes contradict each other");
  }
  check_words(node, sizes);
  return {{type, {sizes.ranges, sizes.rows, sizes.targets}}};
}

/// What the trees give for one row: each target's value.
class RowReference {
 public:
  RowReference(const TreesSizes& sizes, std::span<const ReferenceTensor> inputs)
      : sizes_(sizes), inputs_(inputs) {}

  void walk(std::int64_t tree, std::int64_t row) {
    const auto root = static_cast<std::int64_t>(at(kRootsOfTrees, 2 * tree));
    nominal_.reset();
    others_.clear();
    follow(root, 0, row, Way::nominal);
    const std::map<std::int64_t, double> own = votes_of(*nominal_);
    std::map<std::int64_t, double> errors;
    for (const TreeRecord& other : others_) {
      std::map<std::int64_t, double> changes = votes_of(other);
      for (const auto& [target, weight] : own) changes[target] -= weight;
      for (const auto& [target, change] : changes) {
        errors[target] = std::max(errors[target], std::fabs(change));
      }
    }
    for (const auto& [target, weight] : own) add(target, {weight, errors[target]});
    for (const auto& [target, error] : errors) {
      if (!own.contains(target)) add(target, {0.0, error});
    }
  }

  [[nodiscard]] Bounded result(std::int64_t target) const {
    const double infinity = std::numeric_limits<double>::infinity();
    const Combine combine = sizes_.structure.combine;
    const auto found = values_.find(target);
    if (combine != Combine::sum) {
      const double none = combine == Combine::least ? infinity : -infinity;
      return found == values_.end() ? Bounded{none, 0.0} : found->second;
    }
    const auto sum = sums_.find(target);
    return sum == sums_.end() ? Bounded{} : sum->second.result();
  }

 private:
  enum class Way : std::uint8_t { nominal, other };

  [[nodiscard]] double at(std::size_t input, std::int64_t i) const {
    return inputs_[input].value[static_cast<std::size_t>(i)];
  }

  /// To the leaf of the row, and to those where it may arrive within its features' errors.
  void follow(std::int64_t root, std::int64_t place, std::int64_t row, Way way) {
    const auto word = [&](std::int64_t i) {
      return static_cast<std::int32_t>(at(kNodesOfTrees, i));
    };
    const TreeRecord record = tree_record(word, root + place, sizes_.structure.words, sizes_.bits);
    if (record.outcomes == 0 && record.child == place) {
      if (way == Way::nominal) {
        nominal_ = record;
      } else {
        others_.push_back(record);
      }
      return;
    }
    const auto x = static_cast<std::size_t>(row * sizes_.features + record.feature);
    const double value = inputs_[kRowsOfTrees].value[x];
    const double error = inputs_[kRowsOfTrees].error[x];
    const auto step = [&](double feature) {
      return record.outcomes >> tree_outcome(feature, record.threshold) & 1U;
    };
    const std::uint32_t own = step(value);
    follow(root, record.child + own, row, way);
    const bool is_open = error > 0.0 && std::fabs(value - record.threshold) <= error;
    if (is_open) follow(root, record.child + 1 - own, row, Way::other);
  }

  [[nodiscard]] std::map<std::int64_t, double> votes_of(const TreeRecord& leaf) const {
    if (sizes_.structure.targets == Targets::one) return {{0, leaf.threshold}};
    const bool is_f64 = sizes_.structure.words == 4;
    const auto word = [&](std::int64_t i) {
      return static_cast<std::int32_t>(at(kVotesOfTrees, i));
    };
    std::map<std::int64_t, double> votes;
    for (std::int64_t v = leaf.first_word;; v += is_f64 ? 3 : 2) {
      const std::int64_t target = word(v) / 2;
      const double weight = real_in_words(word, v + 1, is_f64);
      const auto [place, is_new] = votes.emplace(target, weight);
      if (!is_new) place->second = combined({place->second, 0.0}, {weight, 0.0}).value;
      if (word(v) % 2 == 0) return votes;
    }
  }

  [[nodiscard]] Bounded combined(const Bounded& a, const Bounded& b) const {
    const double error = std::max(a.error, b.error);
    if (sizes_.structure.combine == Combine::least) return {std::min(a.value, b.value), error};
    if (sizes_.structure.combine == Combine::greatest) return {std::max(a.value, b.value), error};
    return {a.value + b.value, a.error + b.error};
  }

  void add(std::int64_t target, const Bounded& vote) {
    sums_[target].add(vote);
    const auto [place, is_new] = values_.emplace(target, vote);
    if (!is_new) place->second = combined(place->second, vote);
  }

  const TreesSizes& sizes_;
  std::span<const ReferenceTensor> inputs_;
  std::optional<TreeRecord> nominal_;
  std::vector<TreeRecord> others_;
  std::map<std::int64_t, BoundedSum> sums_;
  std::map<std::int64_t, Bounded> values_;
};

ReferenceTensor reference_trees(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const TreesSizes sizes = trees_sizes(node);
  const std::int64_t range = (sizes.trees + sizes.ranges - 1) / sizes.ranges;
  ReferenceTensor result;
  result.shape = {sizes.ranges, sizes.rows, sizes.targets};
  for (std::int64_t s = 0; s < sizes.ranges; ++s) {
    for (std::int64_t row = 0; row < sizes.rows; ++row) {
      RowReference own(sizes, inputs);
      for (std::int64_t t = s * range; t < std::min((s + 1) * range, sizes.trees); ++t) {
        own.walk(t, row);
      }
      for (std::int64_t c = 0; c < sizes.targets; ++c) {
        result.value.push_back(own.result(c).value);
        result.error.push_back(own.result(c).error);
      }
    }
  }
  return result;
}

BoundProblem lower_trees(const NodeView& node) {
  const TreesSizes sizes = trees_sizes(node);
  BoundProblem bound;
  bound.problem.family = families::trees;
  bound.problem.types["acc"] = node.input(kRowsOfTrees).dtype;
  bound.problem.structure = numbers_of(sizes.structure);
  bound.problem.extents = {{"N", sizes.rows},
                           {"F", sizes.features},
                           {"S", sizes.ranges},
                           {"C", sizes.targets},
                           {"T", sizes.trees},
                           {"B", sizes.bits},
                           {"P", element_count(node.input(kNodesOfTrees).shape)},
                           {"U", element_count(node.input(kRootsOfTrees).shape)},
                           {"V", element_count(node.input(kVotesOfTrees).shape)}};
  bound.operands["src"] = {node.input_id(kRowsOfTrees), View::identity({"N", "F"})};
  bound.operands["nodes"] = {node.input_id(kNodesOfTrees), View::identity({"P"})};
  bound.operands["roots"] = {node.input_id(kRootsOfTrees), View::identity({"U"})};
  bound.operands["votes"] = {node.input_id(kVotesOfTrees), View::identity({"V"})};
  bound.operands["dst"] = {node.output_id(), View::identity({"S", "N", "C"})};
  return bound;
}

}  // namespace

/// Not of ONNX: ensembles of trees, packed as words (problems/classical.hpp), by ranges of trees:
/// inputs rows, nodes, roots and votes, the last three known when planning.
const Operator& operator_Trees() {
  static const Operator kOperator{
      .name = "Trees",
      .inputs = {.least = 4, .most = 4, .planned = {1, 2, 3}},
      .attributes = {"combine", "feature_bits", "ranges", "targets", "words"},
      .since_opset = 1,
      .infer = infer_trees,
      .host = {.reference = reference_trees},
      .lower = lower_trees,
      .types = {DType::f32, DType::f64, DType::i32, DType::i64},
      .takes_epilogue = false,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
