// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"

namespace morton::ops {

/// The gradients of sums, weights, bias and first states. What each gate passes on is computed for
/// all steps at once, from the states that the node gave; the steps that remain, from the last to
/// the first, are a product each and chains.
/// Source: P. Werbos, "Backpropagation through time: what it does and how to do it", 1990.
void gradient_of_recurrent_sequence(Gradient& gradient);

}  // namespace morton::ops
