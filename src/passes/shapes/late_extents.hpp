// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "passes/shapes/late_growth.hpp"
#include "passes/shapes/late_table.hpp"

namespace morton::passes {

/// Resolves extents that only a run finds out (how many elements NonZero found), node by node,
/// while shapes are inferred. Behind it the graph is one of fixed shapes, the bounds; what counts
/// the extents of its outputs are further outputs (Graph::counts).
class LateExtents {
 public:
  /// `growing` inputs begin with nothing, and hold what feeds have gathered.
  LateExtents(Graph& graph, Splicing& out, std::vector<Growing> growing);

  [[nodiscard]] const LateTable& table() const { return table_; }
  /// Puts other nodes in the place of node `n` where it finds or reads late extents as no fixed
  /// graph can; their number, or -1 where the node stays. Throws UnsupportedError where its
  /// operator has no rule for a late extent.
  std::ptrdiff_t write_out(std::size_t n);
  /// Of node `n`, whose inputs do not fit each other as inferring it says. Where one of them is
  /// late they have their bounds, and what a run finds out may fit: throws NeedsSegments.
  void require_misfit(std::size_t n, const ModelError& error) const;
  /// Finds which extents of the results of node `n` are late. It is inferred. Throws likewise.
  void pass_on(std::size_t n);
  /// Makes the counts of the graph's outputs outputs too, but for those of growing inputs: states
  /// take these. Throws UnsupportedError where a fed input does not grow by as much in each run.
  void count_outputs();

 private:
  /// Throws UnsupportedError where planning needs a number of the node that is late.
  void require_known(const Node& node) const;

  void renew_counts();

  LateTable table_;
  std::vector<Growing> growing_;
};

/// Rules for late extents. A rule writes the nodes that stand in `node`'s place; false where it has
/// nothing to do, and the node stays.
struct LateRule {
  std::string_view op;
  bool (*write)(LateTable& table, const Node& node);
};
/// Operators that find extents (NonZero); called for each such node.
[[nodiscard]] std::span<const LateRule> late_sources();
/// Operators of shapes (Reshape); called where an input is or holds something late.
[[nodiscard]] std::span<const LateRule> late_shapes();
/// Operators that take elements by their places (Slice); called likewise.
[[nodiscard]] std::span<const LateRule> late_places();
/// Operators that join elements (ReduceSum); called likewise.
[[nodiscard]] std::span<const LateRule> late_joins();

/// Which extents of the results of `node`, in its outputs' order, are late, as those of its inputs
/// are: proved from the problems that it is lowered to. Throws UnsupportedError without a proof.
[[nodiscard]] std::vector<LateCounts> proved_counts(const LateTable& table, const Node& node);

}  // namespace morton::passes
