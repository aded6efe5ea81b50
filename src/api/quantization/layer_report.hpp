// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/quantization/quantized_layers.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/quantize.hpp"

namespace morton::api {

/// The Conv, Gemm and MatMul with weights, in bodies too, that are none of `layers`: each with the
/// reason why. A product of two activations has no weights.
[[nodiscard]] std::vector<QuantizedLayer> layers_in_float(const Graph& graph,
                                                          const std::vector<WeightLayer>& layers);

/// Adds up the bytes of the weights of `told`, which is of these layers. What layers share they
/// have once: as it is, and for each dimension of channels in 8 bits.
void add_up_weights(const std::vector<WeightLayer>& layers, QuantizedModel& told);

}  // namespace morton::api
