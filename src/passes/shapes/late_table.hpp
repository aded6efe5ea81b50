// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "passes/shapes/late_values.hpp"
#include "passes/shapes/splicing.hpp"

namespace morton::passes {

/// By dimension of a tensor the i64 tensor of one element that counts it; kNoTensor where the
/// extent is fixed.
using LateCounts = std::vector<TensorId>;

/// Which of a list of truths are true.
struct Found {
  TensorId places;  ///< of those, in order; i64, a late list behind which void is 0
  TensorId count;   ///< how many there are
  TensorId before;  ///< of each how many up to it are, less one: its place in `places`, if it is
};

/// What is known of late extents while shapes are inferred, and the nodes that handle them. A
/// tensor with a late extent has the shape of its bound; its elements behind the extent are void.
class LateTable {
 public:
  LateTable(Graph& graph, Splicing& out) : graph_(graph), out_(out), values_(graph) {}

  [[nodiscard]] Graph& graph() const { return graph_; }
  [[nodiscard]] Splicing& out() const { return out_; }
  [[nodiscard]] LateValues& values() { return values_; }
  [[nodiscard]] const LateValues& values() const { return values_; }

  /// Whether no tensor has a late extent.
  [[nodiscard]] bool is_empty() const { return counts_.empty(); }
  [[nodiscard]] bool is_defined(TensorId id) const { return counts_.contains(id); }
  [[nodiscard]] bool is_late(TensorId id) const;
  /// Whether the number counts what a feed gathers, and so many more always fit: a run has room for
  /// the feed's step, and for no more.
  [[nodiscard]] bool has_room(TensorId count, std::int64_t added) const {
    const auto step = growing_.find(count);
    return step != growing_.end() && added <= step->second;
  }
  void define_growing(TensorId count, std::int64_t capacity, std::int64_t step);
  /// What counts dimension `d`, or none.
  [[nodiscard]] TensorId count(TensorId id, std::size_t d) const;
  [[nodiscard]] LateCounts counts(TensorId id) const;
  /// States which extents of a tensor are late, whatever the node that computes it.
  void define(TensorId id, LateCounts counts);
  /// Throws UnsupportedError for a bound of more than 10^6 elements.
  void require_bound(const Node& node, std::int64_t bound) const;
  /// States that `count` counts up to `bound`. Throws UnsupportedError for more than 10^6.
  void define_count(const Node& node, TensorId count, std::int64_t bound);

  /// The numbers of a tensor; each late one with a tensor that holds it. Throws UnsupportedError
  /// that names `node` where they are data.
  LateNumbers numbers(const Node& node, TensorId id);
  /// Dimension `d`'s extent as a number.
  [[nodiscard]] LateNumber extent(TensorId id, std::size_t d) const;
  /// i64 of one element.
  TensorId tensor_of(const LateNumber& number);
  /// The smaller, the sum and the difference of two (not less than 0), with nodes as far as needed.
  LateNumber least(const Node& node, const LateNumber& a, const LateNumber& b);
  LateNumber sum(const Node& node, const LateNumber& a, const LateNumber& b);
  LateNumber rest(const Node& node, const LateNumber& a, const LateNumber& b);
  /// `factor` times, or one of `divisor` parts of, a count; the same one for the same question.
  LateNumber scaled(const Node& node, const LateNumber& number, std::int64_t factor);
  LateNumber divided(const Node& node, const LateNumber& number, std::int64_t divisor);

  /// Another name of `id`, in which dimension `d` (or every one) is as long as its bound.
  TensorId whole(TensorId id, std::size_t d);
  TensorId whole(TensorId id);
  /// States that void of `id` along dimension `d` is 0.
  void define_zero_void(TensorId id, std::size_t d) { zero_void_.emplace(id, d); }
  /// `id` with the constant in its void along dimension `d`, which is as long as its bound then.
  TensorId masked(TensorId id, std::size_t d, double otherwise);
  /// Whether an element counts: a list of truths, as long as the bound.
  TensorId truths(TensorId count, std::int64_t bound);
  /// The numbers 0, 1, ... before `bound`.
  TensorId numbered(std::int64_t bound);

  /// What `make` writes, once for each `key`.
  template <typename Make>
  TensorId once(const std::string& key, const Make& make) {
    const auto made = once_.find(key);
    return made != once_.end() ? made->second : once_[key] = make();
  }

  /// A condition, and what counts the extent that it chooses from, or none.
  using FoundKey = std::pair<TensorId, TensorId>;
  [[nodiscard]] std::map<FoundKey, Found>& found() { return found_; }

  [[noreturn]] void refuse(const Node& node, const std::string& why) const;

  /// States of a tensor that was made of `id` that it has its type and shape, and these counts.
  TensorId alike(TensorId made, TensorId id, LateCounts counts);

 private:
  LateNumber computed(const Node& node, TensorId count, std::int64_t low, std::int64_t high);
  /// What the operator makes of two numbers.
  TensorId joined(std::string_view op, const LateNumber& a, const LateNumber& b);

  Graph& graph_;
  Splicing& out_;
  LateValues values_;
  std::map<TensorId, LateCounts> counts_;
  std::map<FoundKey, Found> found_;
  std::map<std::string, TensorId> once_;
  std::map<TensorId, std::int64_t> growing_;  ///< counts of growing inputs, and their steps
  std::set<std::pair<TensorId, std::size_t>> zero_void_;
  std::map<TensorId, std::pair<TensorId, std::int64_t>>
      factors_;  ///< of a product its count and factor
};

}  // namespace morton::passes
