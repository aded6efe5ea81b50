// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/rooms.hpp"
#include "morton/dtype.hpp"

namespace morton::passes {

/// An operator that may compute with halves in place of f32.
struct HalfOperator {
  std::string_view name;
  /// First versions of ONNX's operator set whose definition takes them; 0: none does.
  std::int64_t f16_since = 0, bf16_since = 0;
  /// Inputs of this number and later ones stay f32 (Resize's scales).
  std::size_t f32_from = 1000;

  /// As of f16 or bf16.
  [[nodiscard]] std::int64_t since(DType type) const {
    return type == DType::f16 ? f16_since : bf16_since;
  }
};

/// ONNX's own operators; nothing for those that stay in f32: what halves spoil (sums along long
/// axes, Fourier's transform, random numbers), and what has no form of halves in any version.
[[nodiscard]] std::optional<HalfOperator> half_operator(std::string_view name);

}  // namespace morton::passes
