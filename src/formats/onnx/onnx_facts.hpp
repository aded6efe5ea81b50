// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include "base/rooms.hpp"
#include "formats/onnx/onnx_scan.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// What a file says besides the network; without its replaceable constants, which its inputs tell.
[[nodiscard]] FileFacts facts_in(const ScannedModel& scanned);

/// All of a model but its graph: the facts, versions of operator sets, and that Morton wrote it.
[[nodiscard]] onnx::ModelProto model_without_graph(const Graph& graph);

}  // namespace morton::formats
