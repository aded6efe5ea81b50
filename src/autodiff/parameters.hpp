// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace morton {

/// The parameters of a model: finite constants where its operators expect what is learned
/// (Operator::parameters), by way of reshapes and transposes too. Of elementwise operators only
/// those behind a node with weights, and no single numbers but the slope of a PRelu and the bias of
/// a product of one column.
[[nodiscard]] std::vector<TensorId> parameters_of(const Graph& model);

}  // namespace morton
