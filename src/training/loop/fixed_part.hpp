// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::training {

/// A digest of what a training leaves as it is: the network's nodes, and all its constants but
/// those with the names `renewed`. Sizes of inputs that are open do not matter.
[[nodiscard]] std::string fixed_part_digest(const Graph& graph,
                                            std::span<const std::string> renewed);

}  // namespace morton::training
