// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "ops/math/integer_product.hpp"

namespace morton::ops {

/// What QLinearMatMul does to its sums: y = saturate(round(sum * (sa * sb / sy)) + zy), in f32.
struct Requantisation {
  IntegerProduct product;
  PerLine scale_a, scale_b, scale_y, zero_y;
  DType type = DType::u8;  ///< of y
  /// sa * sb / sy, each step rounded to f32, where the scales are constants and vary along one
  /// dimension at most. Its shape is as `PerLine` states it. Results are exact then.
  std::optional<Tensor> multiplier;
};

/// Of a QLinearMatMul. Throws ModelError where its inputs do not fit.
[[nodiscard]] Requantisation requantisation_of(const NodeView& node);

/// sa * sb / sy.
ScalarRef append_multiplier(Chain& chain, ScalarRef scale_a, ScalarRef scale_b, ScalarRef scale_y);
/// The steps from a sum (i32) and a multiplier (f32) to y. `zero` is of f32.
ScalarRef append_requantisation(Chain& chain, ScalarRef sum, ScalarRef multiplier, ScalarRef zero,
                                DType type);

}  // namespace morton::ops
