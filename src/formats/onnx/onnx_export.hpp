// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// Writes a graph as an ONNX file, atomically; `import_onnx` gives the same graph back. Names,
/// operator set, open extents and attributes are the graph's. Constants become initializers, and so
/// do states, with the value that they hold: a file knows no state. An input or output without
/// declared extents is written with its shape, or without one where that is unknown, which ONNX's
/// checker refuses of both and Morton of inputs.
///
/// Throws UnsupportedError for a graph that passes have rewritten (epilogues have no name in ONNX)
/// and for more than 2 GiB, which a protobuf file cannot hold; ModelError where the file cannot be
/// written.
void export_onnx(const Graph& graph, const std::filesystem::path& path);

/// The bytes of that file.
[[nodiscard]] std::string onnx_bytes(const Graph& graph);

}  // namespace morton::formats
