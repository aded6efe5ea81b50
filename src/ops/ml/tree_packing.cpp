// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/tree_packing.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace morton::ops {
namespace {

using Combine = problems::TreesStructure::Combine;

constexpr std::int64_t kMostWords = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kNowherePacked = -1;

/// Bits that numbers below `count` take, at least 1.
std::int64_t bits_for(std::int64_t count) {
  return std::max<std::int64_t>(
      1, std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1) - 1)));
}

/// A record before it is words: a node of the ensemble, or a step on to a record that stands
/// elsewhere, since two nodes lead to it.
struct PlacedRecord {
  std::int32_t node = 0;
  std::int32_t child = 0;  ///< a record of the same tree
  enum class Kind : std::uint8_t { node, step, gap } kind = Kind::node;
};

/// The records of one tree.
class TreePlacer {
 public:
  explicit TreePlacer(const Ensemble& ensemble)
      : ensemble_(ensemble), place_(ensemble.nodes.size(), kNowherePacked) {}

  const std::vector<PlacedRecord>& place(std::int32_t root) {
    for (const PlacedRecord& record : records_) {
      place_[static_cast<std::size_t>(record.node)] = kNowherePacked;
    }
    records_.clear();
    put(root);
    if (!ensemble_.nodes[static_cast<std::size_t>(root)].is_leaf()) {
      records_.push_back({root, 0, PlacedRecord::Kind::gap});  // pairs start at even places
    }
    for (std::size_t r = 0; r < records_.size(); ++r) {
      const PlacedRecord record = records_[r];
      const TreeNode& own = ensemble_.nodes[static_cast<std::size_t>(record.node)];
      if (record.kind != PlacedRecord::Kind::node) continue;
      if (own.is_leaf()) {
        records_[r].child = static_cast<std::int32_t>(r);
        continue;
      }
      records_[r].child = static_cast<std::int32_t>(records_.size());
      put(own.first);
      put(own.second);
    }
    return records_;
  }

 private:
  void put(std::int32_t node) {
    std::int32_t& known = place_[static_cast<std::size_t>(node)];
    const bool is_leaf = ensemble_.nodes[static_cast<std::size_t>(node)].is_leaf();
    if (known == kNowherePacked || is_leaf) {
      known = static_cast<std::int32_t>(records_.size());
      records_.push_back({node, 0, PlacedRecord::Kind::node});
    } else {
      records_.push_back({node, known, PlacedRecord::Kind::step});
    }
  }

  const Ensemble& ensemble_;
  std::vector<std::int32_t> place_;  ///< of each node in the tree at hand
  std::vector<PlacedRecord> records_;
};

/// Writes 32-bit words.
class WordWriter {
 public:
  explicit WordWriter(DType real) : is_f64_(real == DType::f64) {}

  void whole(std::uint32_t value) { words_.push_back(std::bit_cast<std::int32_t>(value)); }
  void real(double value) {
    if (!is_f64_) return whole(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    const auto bits = std::bit_cast<std::uint64_t>(value);
    whole(static_cast<std::uint32_t>(bits));
    whole(static_cast<std::uint32_t>(bits >> 32U));
  }
  /// A number in the place of a real.
  void in_place_of_real(std::uint32_t value) {
    whole(value);
    if (is_f64_) whole(0);
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  [[nodiscard]] Tensor take() {
    if (words_.empty()) words_.push_back(0);
    Tensor result = Tensor::allocate(DType::i32, {size()});
    std::ranges::copy(words_, result.as_mutable<std::int32_t>().begin());
    words_ = {};
    return result;
  }

 private:
  bool is_f64_;
  std::vector<std::int32_t> words_;
};

double combined_vote(const Ensemble& ensemble, const TreeNode& leaf, Combine combine) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double value = combine == Combine::sum ? 0.0 : combine == Combine::least ? kInfinity : -kInfinity;
  for (std::int32_t v = leaf.second; v < leaf.second + leaf.feature; ++v) {
    const double weight = ensemble.votes[static_cast<std::size_t>(v)].weight;
    if (combine == Combine::sum) value += weight;
    if (combine == Combine::least) value = std::min(value, weight);
    if (combine == Combine::greatest) value = std::max(value, weight);
  }
  return value;
}

class TreePacker {
 public:
  TreePacker(const NodeView& node, const Ensemble& ensemble, DType real, Combine combine)
      : node_(node),
        ensemble_(ensemble),
        combine_(combine),
        nodes_(real),
        votes_(real),
        roots_(real) {}

  PackedTrees pack(DType real, std::int64_t features) {
    PackedTrees packed;
    packed.feature_bits = bits_for(features);
    packed.words = real == DType::f64 ? 4 : fits_two_words(packed.feature_bits) ? 2 : 3;
    const std::vector<std::int32_t> depths = depths_of(node_, ensemble_);
    TreePlacer placer(ensemble_);
    for (std::size_t t = 0; t < ensemble_.roots.size(); ++t) {
      const auto first = static_cast<std::uint32_t>(nodes_.size() / packed.words);
      for (const PlacedRecord& record : placer.place(ensemble_.roots[t])) write(record, packed);
      if (nodes_.size() > kMostWords || votes_.size() > kMostWords) {
        node_.unsupported("its trees take more than " + std::to_string(kMostWords) + " words");
      }
      roots_.whole(first);
      roots_.whole(static_cast<std::uint32_t>(depths[t]));
    }
    packed.nodes = nodes_.take();
    packed.roots = roots_.take();
    packed.votes = votes_.take();
    return packed;
  }

 private:
  /// Whether the largest tree's places fit beside a feature.
  [[nodiscard]] bool fits_two_words(std::int64_t feature_bits) const {
    std::size_t largest = 0;
    TreePlacer placer(ensemble_);
    for (const std::int32_t root : ensemble_.roots) {
      largest = std::max(largest, placer.place(root).size());
    }
    return feature_bits + bits_for(static_cast<std::int64_t>(largest) + 1) <= 28;
  }

  void write(const PlacedRecord& record, const PackedTrees& packed) {
    const TreeNode& own = ensemble_.nodes[static_cast<std::size_t>(record.node)];
    const bool is_branch = record.kind == PlacedRecord::Kind::node && !own.is_leaf();
    if (record.kind != PlacedRecord::Kind::node || is_branch) {
      nodes_.real(own.threshold);
    } else if (ensemble_.targets == 1) {
      nodes_.real(combined_vote(ensemble_, own, combine_));
    } else {
      nodes_.in_place_of_real(write_votes(own));
    }
    const std::uint32_t outcomes = is_branch ? own.outcomes : 0;
    const auto feature = static_cast<std::uint32_t>(is_branch ? own.feature : 0);
    const auto child = static_cast<std::uint32_t>(record.child);
    if (packed.words == 2) {
      nodes_.whole(outcomes | feature << 4U |
                   child << static_cast<std::uint32_t>(4 + packed.feature_bits));
    } else {
      nodes_.whole(outcomes | feature << 4U);
      nodes_.whole(child);
    }
  }

  /// The place of the first; a leaf without any has one of nothing.
  std::uint32_t write_votes(const TreeNode& leaf) {
    const auto first = static_cast<std::uint32_t>(votes_.size());
    if (leaf.feature == 0) {
      votes_.whole(0);
      votes_.real(combined_vote(ensemble_, leaf, combine_));
    }
    for (std::int32_t v = leaf.second; v < leaf.second + leaf.feature; ++v) {
      const TreeVote& vote = ensemble_.votes[static_cast<std::size_t>(v)];
      const bool is_last = v + 1 == leaf.second + leaf.feature;
      votes_.whole(static_cast<std::uint32_t>(vote.target) * 2 + (is_last ? 0 : 1));
      votes_.real(vote.weight);
    }
    return first;
  }

  const NodeView& node_;
  const Ensemble& ensemble_;
  Combine combine_;
  WordWriter nodes_;
  WordWriter votes_;
  WordWriter roots_;
};

}  // namespace

PackedTrees pack_trees(const NodeView& node, const Ensemble& ensemble, DType real,
                       std::int64_t features, Combine combine) {
  return TreePacker(node, ensemble, real, combine).pack(real, features);
}

std::int64_t ranges_of_trees(std::int64_t trees, std::int64_t bytes, std::int64_t rows,
                             std::int64_t targets) {
  constexpr std::int64_t kRangeBytes = std::int64_t{256} << 10;
  constexpr std::int64_t kLeastItems = 1024;  ///< rows times ranges
  constexpr std::int64_t kMostRanges = 256;
  constexpr std::int64_t kMostSums = std::int64_t{1} << 26;  ///< of all ranges, rows and targets
  const std::int64_t for_cache = (bytes + kRangeBytes - 1) / kRangeBytes;
  const std::int64_t for_units = (kLeastItems + rows - 1) / std::max<std::int64_t>(rows, 1);
  const std::int64_t room = kMostSums / std::max<std::int64_t>(rows, 1) / targets;
  const std::int64_t most = std::clamp<std::int64_t>(room, 1, std::min(trees, kMostRanges));
  return std::clamp<std::int64_t>(std::max(for_cache, for_units), 1, most);
}

}  // namespace morton::ops
