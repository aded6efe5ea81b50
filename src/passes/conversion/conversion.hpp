// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/message.hpp"

namespace morton::passes {

/// Rewrites of a graph that stays one of ONNX's operators: it is written to a file again.

/// Shapes of tensors by name, as far as they are known; open extents are -1.
using KnownShapes = std::map<std::string, Shape>;

/// Nodes of constants alone become constants, in bodies too; those that are drawn, and codes that
/// are dequantised, stay. Results larger than 1 MiB become none where they are larger than what
/// they are made of. Gives how many there were.
int fold_known(Graph& graph);

/// Takes out nodes that no output depends on, and constants that nobody reads. Nodes that stay keep
/// all their outputs: most operators of ONNX have them all.
void drop_unused(Graph& graph);

/// Every node gets the form that version `opset` of ONNX's operator set has of it, in bodies too.
/// `shapes` makes some forms shorter. Throws UnsupportedError that lists the nodes which have none.
void raise_opset(Graph& graph, std::int64_t opset, const KnownShapes& shapes);

struct HalvesOptions {
  DType type = DType::f16;  ///< or bf16
  enum class Ports : std::uint8_t { keep, convert } ports = Ports::keep;
  std::set<std::string> in_float{};  ///< names of nodes
};

/// A node of f32 that stays so.
struct KeptNode {
  std::string node, op, why;
};

struct HalvesReport {
  std::vector<KeptNode> in_float;  ///< in the graph's order
  int half_nodes = 0;              ///< that compute with halves now
  std::vector<Message> notes;      ///< constants that halves do not hold
};

/// Tensors of f32 become halves, and Casts stand where a node or a port stays in f32. A constant's
/// value beyond the range becomes the largest one; a single number that would become zero the
/// smallest.
HalvesReport make_halves(Graph& graph, const HalvesOptions& options);

}  // namespace morton::passes
