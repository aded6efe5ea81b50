// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/segments/turns.hpp"

namespace morton::api {

/// A Scan as a Loop whose body takes each turn's elements for itself. Throws ModelError.
[[nodiscard]] LoopParts scan_as_loop(const Graph& graph, const Node& node);

}  // namespace morton::api
