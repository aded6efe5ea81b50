// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::api {

/// Where the results of a loop's turns lie in an output.
struct StackedOutput {
  std::int64_t axis = 0;   ///< of the output, -1 is its last one
  bool from_back = false;  ///< the last turn's comes first
};

/// A Loop, or a Scan as one.
struct LoopParts {
  std::string op, name;  ///< of the node
  /// Its inputs are a turn's number, a condition, states, and what is the same in all turns. Its
  /// outputs are a condition, states, and what is stacked.
  Graph body;
  std::size_t states = 0;
  std::vector<StackedOutput> stacked{};
  /// Of the node's inputs: those that the body's have their first values of; none of what is not
  /// there, a turn's number and, in a Scan, the condition.
  std::vector<std::optional<std::size_t>> sources{};
  /// Of the node's inputs the one that counts the turns; or the inputs and their axes that do.
  std::optional<std::size_t> count{};
  std::vector<std::pair<std::size_t, std::int64_t>> counted_axes{};
};

/// Parts of a Loop. Throws ModelError.
[[nodiscard]] LoopParts loop_parts(const Graph& graph, const Node& node);
/// A Scan as a Loop whose body takes each turn's elements for itself. Throws ModelError.
[[nodiscard]] LoopParts scan_as_loop(const Graph& graph, const Node& node);

}  // namespace morton::api
