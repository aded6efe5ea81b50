// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/ml/ensemble.hpp"

namespace morton::ops {

/// The trees of ai.onnx.ml 5's TreeEnsemble. Throws ModelError where its lists contradict each
/// other.
[[nodiscard]] Ensemble ensemble_of_tensors(const NodeView& node);

}  // namespace morton::ops
