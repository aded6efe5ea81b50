// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/model.hpp"

namespace morton::api {

/// Name, type, extents and labels of a tensor as its model declares them.
[[nodiscard]] PortInfo to_port(const GraphTensor& tensor);

/// The outputs of a model. Types and extents that the file does not declare are inferred, where
/// that needs no values of inputs: an extent that differs between two sizes of the inputs is open.
[[nodiscard]] std::vector<PortInfo> output_ports(const Graph& graph);

}  // namespace morton::api
