// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/rooms.hpp"
#include "formats/arrays/r17_matrix.hpp"
#include "graph/graph.hpp"
#include "morton/load.hpp"

namespace morton::formats {

/// The graph of a network definition (R17, section 5.3.1):
///
///     {"layers": [{"layer": "AffineLayer", "weights": "1_w.json", "biases": "1_b.json"},
///                 {"layer": "SigmoidLayer"}], "size": 2}
///
/// Layers are AffineLayer, SigmoidLayer and ReLULayer; "size" is their number. Inputs are columns
/// (R17, section 5.3.2): an affine layer is MatMul(weights [h, d], input [d, batch]) and Add of
/// biases [h, 1]. The input is named "input", its columns are the open extent "batch", the result
/// is "output".
///
/// Matrix definitions lie beneath the network's folder, unless `options` say otherwise. Throws
/// UnsupportedError beyond a limit and ModelError that names the file and
/// the key: unknown layers, matrices whose sizes do not follow one another, and all that
/// read_r17_matrix refuses.
[[nodiscard]] Graph import_r17_network(const std::filesystem::path& path,
                                       const LoadOptions& options = {});

/// Writes such a graph: matrices first, beside `path` and named after it ("net.json" gets
/// "net_1_w.json" and "net_1_w.bin"), then the definition, so that there never is one without its
/// matrices. Throws UnsupportedError that names the first node which no layer of R17 computes.
void export_r17_network(const Graph& graph, const std::filesystem::path& path, MatrixData data);

}  // namespace morton::formats
