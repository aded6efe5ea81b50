// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// Element types of all tensors; nothing where it is not known: what bodies and unknown operators
/// give.
using ElementTypes = Indexed<TensorId, std::optional<DType>>;

/// They follow from the nodes alone, so shapes may be open. Of a list it is that of its elements.
[[nodiscard]] ElementTypes element_types(const Graph& graph);

/// Which tensors are lists or optional values. What bodies give is none as far as it is known.
[[nodiscard]] Indexed<TensorId, bool> lists_of(const Graph& graph);

}  // namespace morton::passes
