// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// A whole number that only a run finds out, within bounds; a known one where these are equal.
struct LateNumber {
  std::int64_t low = 0;
  std::int64_t high = 0;
  TensorId count = kNoTensor;  ///< i64 of one element that holds it, where there is one
  [[nodiscard]] bool is_known() const { return low == high; }
};
using LateNumbers = std::vector<LateNumber>;

/// Whole numbers that follow from late extents: what Shape gives of such a tensor, and what shape
/// arithmetic makes of that. Tensors of them are computed by nodes as any; here are their bounds.
class LateValues {
 public:
  explicit LateValues(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] bool is_late(TensorId id) const { return late_.contains(id); }
  /// The elements of a tensor, row-major, where they are known or late; nothing for data.
  [[nodiscard]] std::optional<LateNumbers> numbers(TensorId id) const;
  void define(TensorId id, LateNumbers numbers) { late_[id] = std::move(numbers); }
  /// Finds the bounds of what `node` computes, where it is shape arithmetic with late numbers.
  void pass_on(const Node& node);

 private:
  [[nodiscard]] std::optional<LateNumbers> moved(const Node& node) const;
  [[nodiscard]] std::optional<LateNumbers> computed(const Node& node) const;

  const Graph& graph_;
  std::map<TensorId, LateNumbers> late_;
};

}  // namespace morton::passes
