// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/quantization/quantized_layers.hpp"
#include "api/quantization/value_range.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::api {

/// Writes ONNX's QuantizeLinear and DequantizeLinear into a graph. The nodes stand at its end until
/// `finish`.
class QdqWriter {
 public:
  explicit QdqWriter(Graph& graph) : graph_(graph) {}

  /// The tensor rounded to u8 and back.
  TensorId rounded(TensorId tensor, const Code& code);
  /// The same in the tensor's place: all who read it read the rounded one, and a result of the
  /// graph is rounded.
  void round_everywhere(TensorId tensor, const Code& code);
  /// Makes scales of the layer's weights so large that its bias fits 31 bits in steps of the sums:
  /// weights that are tiny beside their bias become 0. Before the weights are rounded.
  void leave_room(const WeightLayer& layer, const Code& input, const std::vector<double>& bias);
  /// The layer's weights as i8 with a scale for each channel, and from there back.
  TensorId rounded_weights(const WeightLayer& layer);
  /// A bias as i32, in steps of the layer's sums. `values` has one for each channel.
  TensorId rounded_bias(const WeightLayer& layer, const Code& input,
                        const std::vector<double>& values);
  /// The scale of each channel of the layer's weights.
  [[nodiscard]] std::vector<float> scales_of(const WeightLayer& layer);
  /// Puts all nodes behind what they read.
  void finish() { sort_topologically(graph_); }

 private:
  struct Weights {
    std::vector<float> scales;
    TensorId rounded = kNoTensor;
  };
  Weights& weights_of(const WeightLayer& layer);
  TensorId add_node(std::string op, const std::string& name, std::vector<TensorId> inputs,
                    DType type, std::map<std::string, Attribute> attributes = {});

  Graph& graph_;
  std::map<std::pair<TensorId, std::size_t>, Weights> weights_{};  // by the constant and channel
};

}  // namespace morton::api
