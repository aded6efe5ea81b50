// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include "base/rooms.hpp"
#include "formats/onnx/onnx_scan.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// What a file says besides the network; without its replaceable constants, which its inputs tell.
[[nodiscard]] FileFacts facts_in(const ScannedModel& scanned);

inline constexpr const char* kNotesOfPorts = "descriptions and metadata of inputs and outputs";

/// Whether a node or a value has a description, or fields that the reader does not know: metadata.
template <typename Proto>
[[nodiscard]] bool has_notes(const Proto& proto) {
  return !proto.doc_string().empty() || !proto.unknown_fields().empty();
}

/// All of a model but its graph: the facts, versions of operator sets, and that Morton wrote it.
[[nodiscard]] onnx::ModelProto model_without_graph(const Graph& graph);

}  // namespace morton::formats
