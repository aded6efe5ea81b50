// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// As `GraphTensor::labels`, of output `output` of a node of ai.onnx.ml: of the place of a class
/// where its classes are texts, and of scores.
[[nodiscard]] std::vector<std::string> labels_of(const Node& node, std::size_t output);

}  // namespace morton::formats
