// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"
#include "ops/ml/ensemble.hpp"

namespace morton::ops {

/// The trees of TreeEnsembleRegressor ("target") or TreeEnsembleClassifier ("class"), whose lists
/// start with that word. Throws ModelError where they contradict each other.
[[nodiscard]] Ensemble ensemble_of_lists(const NodeView& node, const std::string& votes,
                                         std::int64_t targets);

}  // namespace morton::ops
