// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "passes/pipeline.hpp"

namespace morton::passes {

/// An input that a feed fills: the output has more elements along one dimension, which is open in
/// the model. The input's extent there is the most that it may hold.
struct Growing {
  TensorId input, output;
  std::size_t dimension = 0;
  std::int64_t step = 0;  ///< how many more the output has
};

/// Which inputs grow, by the shapes that the graph has where all are full. Throws what
/// infer_shapes throws.
[[nodiscard]] std::vector<Growing> growing_inputs(const Graph& graph, const PassOptions& options);

/// The dimension along which `output` alone is longer than the fed `input`, and which is open in
/// the model; none where they differ otherwise, or are alike.
[[nodiscard]] std::optional<std::size_t> grown_dimension(const GraphTensor& input,
                                                         const GraphTensor& output);

}  // namespace morton::passes
