// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// A pool (MaxPool, AveragePool, LpPool) of three directions and more as two: along all but the
/// depth, then along it.
[[nodiscard]] std::vector<TensorId> expand_pool(Expansion& expansion);

}  // namespace morton::ops
