// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// How a body of a node stands to the node. The body's formal inputs are the node's inputs of the
/// same places, behind those that only the node has.
struct BodyWiring {
  std::size_t first_output = 0;  ///< of the body: it is the node's first
  std::size_t states = 0;        ///< how many outputs from there on the next turn takes
  std::size_t first_state = 0;   ///< the body's input that takes the first of them
  std::size_t first_input = 0;   ///< of the node: it is the body's first
};

/// From this operator set on a Scan has no batch, and no lengths of sequences before its inputs.
inline constexpr std::int64_t kScanWithoutBatch = 9;

/// Whether nodes of this operator have bodies: If, Loop, Scan, SequenceMap.
[[nodiscard]] bool has_bodies(std::string_view op);
/// The values from outside that the node's body of this name takes, among the node's inputs.
[[nodiscard]] std::span<const TensorId> captured_by(const Node& node, std::string_view name);
/// Of a node of these. Throws ModelError where its bodies do not fit.
[[nodiscard]] BodyWiring wiring_of(const Graph& graph, const Node& node);
/// An attribute of a Scan that has a number for each of `count`, 0 where it is not given. Throws
/// ModelError where it has another count.
[[nodiscard]] std::vector<std::int64_t> scan_numbers(const NodeView& view, const char* name,
                                                     std::size_t count);

}  // namespace morton::ops
