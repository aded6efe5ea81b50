// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// As `GraphTensor::labels`, of output `output` of a node of ai.onnx.ml: of the place of a class
/// where its classes are texts, and of scores.
[[nodiscard]] std::vector<std::string> labels_of(const Node& node, std::size_t output);

/// Constants of texts by name. Their tensors hold the texts' places instead: 0, 1, ...
using TextConstants = std::map<std::string, std::vector<std::string>>;

/// The tensor of the places of texts: 0, 1, ... in row-major order.
[[nodiscard]] Tensor places_of_texts(const Shape& shape);

/// Gives the outputs that hold a looked-up text's place the texts as labels: what
/// ArrayFeatureExtractor takes of such a constant, as scikit-learn's classifiers have it. Throws
/// UnsupportedError where a node would compute with texts.
void label_texts(Graph& graph, const TextConstants& texts, const std::string& where);

}  // namespace morton::formats
