// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/segments/control.hpp"
#include "api/segments/segment.hpp"

namespace morton::api {

/// A graph on both sides of a node: before it is what it depends on.
struct CutParts {
  Node node;
  bool is_control;  ///< the host carries it out; another node is the first of `behind`
  std::optional<Graph> before, behind;  ///< none where there is nothing to compute
};

/// Cuts at `error.waiting_node()`. Throws UnsupportedError where nothing comes before it, so that
/// waiting does not help.
[[nodiscard]] CutParts cut_at(const Graph& whole, const NeedsSegments& error);

/// A graph on both sides of a node that must wait: what the node depends on runs first. Control
/// flow is then carried out by the host; any other node begins what comes behind.
class CutGraph {
 public:
  /// Throws what `cut_at` does.
  CutGraph(const Graph& whole, const NeedsSegments& error, SegmentContext& context, int depth);

  [[nodiscard]] Values run(const Values& given);

 private:
  SegmentContext& context_;
  Node node_;
  Message why_;
  std::vector<std::string> outputs_;          ///< of the whole graph
  std::unique_ptr<Segment> before_, behind_;  ///< none where there is nothing to compute
  std::unique_ptr<Control> control_;          ///< none of other nodes
  Values constants_;                          ///< of the whole graph that control flow reads
  std::vector<std::string> reads_, gives_;    ///< of control flow; empty where a place is unused
};

}  // namespace morton::api
