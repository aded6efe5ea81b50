// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// Whether the windows of a ConvTranspose with this kernel lie side by side without a gap, in three
/// directions at most.
[[nodiscard]] bool is_side_by_side(const NodeView& node, const Shape& kernel);
/// Its result then, without the bias: each element of the image is a block of the result, so one
/// product gives them all.
[[nodiscard]] TensorId blocks_of(Expansion& expansion, const Shape& image, const Shape& weights);

}  // namespace morton::ops
