// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/indexed.hpp"

namespace morton {

/// A tensor of a graph. The planner numbers tasks' tensors alike, and temporaries behind them.
class NumberedTensor;
using TensorId = Id<NumberedTensor>;

/// Stands for an optional input that is absent, and an output that nobody reads.
inline constexpr TensorId kNoTensor{};

}  // namespace morton
