// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/quantize.hpp"

namespace morton::api {

/// The percent of values inside that the options ask for, or the usual one.
[[nodiscard]] double percentile_of(const QuantizeOptions& options);

/// Throws UsageError for a model that cannot be of 8 bits, and for options that contradict
/// themselves.
void check_quantization(const Graph& graph, const QuantizeOptions& options);

}  // namespace morton::api
