// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <set>
#include <string>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// Type and extents of the tensor; no bytes.
void describe_tensor(const Tensor& tensor, onnx::TensorProto& proto);

/// Whether a file has the tensor's bytes: of a constant, or of a state as it is.
[[nodiscard]] bool holds_data(const GraphTensor& tensor);

/// The domains of the operators of the graph and of its nodes' bodies, but ONNX's own.
[[nodiscard]] std::set<std::string> domains_of(const Graph& graph);

/// Nodes and ports; bodies of control flow whole. Throws UnsupportedError for nodes that fusion has
/// changed, and for unknown operators.
[[nodiscard]] onnx::GraphProto graph_without_initializers(const Graph& graph);

}  // namespace morton::formats
